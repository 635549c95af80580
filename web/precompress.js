// The twins of built files: name.gz and name.br, where they are smaller.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const WORTH = new Set([".js", ".css", ".html", ".svg", ".json"]);

/** @param {string} folder */
export function precompress(folder) {
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!WORTH.has(extname(name))) continue;
    const plain = readFileSync(join(folder, name));
    const quality = { [constants.BROTLI_PARAM_QUALITY]: 11 };
    const twins = {
      gz: gzipSync(plain, { level: 9 }),
      br: brotliCompressSync(plain, { params: quality }),
    };
    for (const [suffix, bytes] of Object.entries(twins)) {
      if (bytes.length < plain.length) writeFileSync(join(folder, `${name}.${suffix}`), bytes);
    }
  }
}
