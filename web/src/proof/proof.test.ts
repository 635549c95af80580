// Against proofs that our own tools made (tests/support/proof_vectors.py makes and compares them).
import { describe, expect, test } from "vitest";
import { base64, fromBase64, hex, sha256, utf8, type Bytes } from "./bytes";
import { checkRecord, overall, type Evidence } from "./checks";
import { digestOf, wrongFields, wrongSums, type InvoiceBody } from "./invoice";
import { verifyConsistency } from "./merkle";
import { isWeak, parseKey } from "./note";
import { readPin, remember, writePin, type Keep, type Pin } from "./pin";
import { canonicalJson, parseProof, parseRecord } from "./record";
import vectors from "./vectors.json";

const NOW = 1_800_000_000_000;
const [, whole, middle] = vectors.proofs;
if (whole === undefined || middle === undefined) throw new Error("no vectors");

function root(size: number): Bytes {
  return fromBase64("root", vectors.roots[size] ?? "");
}

const pinned: Pin = { vkey: vectors.vkey, source: "first_use", pinnedMs: NOW, seen: null };

async function compare(oldSize: number, newSize: number) {
  const row = vectors.consistency.find(([old, young]) => old === oldSize && young === newSize);
  const hashes = ((row?.[2] ?? []) as string[]).map((text) => fromBase64("hash", text));
  return { oldSize, newSize, hashes };
}

function evidence(change: Partial<Evidence> = {}): Evidence {
  return {
    file: middle?.file ?? "",
    shown: `${vectors.vkey}\n`,
    pin: pinned,
    compare,
    wanted: { seq: 5, tenant: "lab" },
    ...change,
  };
}

function flipped(text: string, at: number): string {
  return text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ 1) + text.slice(at + 1);
}

describe("a record", () => {
  test("is believed, with its hash, if all is as it was made", async () => {
    for (const { seq, file } of vectors.proofs) {
      const wanted = { seq, tenant: "lab" };
      const found = await checkRecord(evidence({ file, wanted }));
      expect(found.checks.map((check) => `${check.name} ${check.outcome}`)).toEqual([
        "key holds",
        "signature holds",
        "inclusion holds",
        "record holds",
        "consistency holds",
      ]);
      expect(found.recordHash).toBe(vectors.hashes[seq]);
      expect(found.record?.seq).toBe(seq);
    }
  });

  test("is not believed if any one byte of its proof is another", async () => {
    const { file } = middle;
    for (let at = 0; at < file.length; at += 1) {
      const found = await checkRecord(evidence({ file: flipped(file, at) }));
      expect(overall(found.checks), `byte ${at}`).toBe("fails");
    }
  });

  test("is not believed if it is cut anywhere", async () => {
    const { file } = middle;
    for (let at = 0; at < file.length; at += 1) {
      const found = await checkRecord(evidence({ file: file.slice(0, at) }));
      expect(overall(found.checks), `cut at ${at}`).toBe("fails");
    }
  });

  test("is not believed if another was asked for", async () => {
    for (const wanted of [
      { seq: 6, tenant: "lab" },
      { seq: 5, tenant: "rival" },
    ]) {
      const found = await checkRecord(evidence({ wanted }));
      expect(overall(found.checks)).toBe("fails");
      expect(found.record).toBeNull();
    }
  });

  test("is not believed if another key of the same name signed it", async () => {
    const found = await checkRecord(evidence({ file: vectors.by_another_key }));
    expect(found.checks.find((check) => check.name === "signature")?.outcome).toBe("fails");
  });

  test("is loudly not believed if the server shows another key than the pinned one", async () => {
    const shown = `${vectors.other_vkey}\n`;
    const found = await checkRecord(evidence({ shown, file: vectors.by_another_key }));
    expect(found.checks[0]).toMatchObject({ name: "key", outcome: "fails" });
    expect(found.checks[0]?.told).toContain("another key");
  });

  test("has one spelling", () => {
    const { canonical } = parseProof(middle.file);
    const text = new TextDecoder().decode(canonical);
    expect(canonicalJson(JSON.parse(text))).toBe(text);
    for (const wrong of [
      text.replace(",", ", "),
      text.replace('"seq":5', '"seq":5,"seq":5'),
      text.replace('"seq":5', '"seq":5.0'),
      text.replace('"project":null,', ""),
      text.replace("{", '{"a":1,'),
      `[${text}]`,
      `${text} `,
    ]) {
      expect(() => parseRecord(utf8(wrong)), wrong).toThrow();
    }
  });
});

describe("a browser without Ed25519", () => {
  test("says that the signature was not checked, and claims nothing", async () => {
    const real = crypto.subtle.importKey;
    const refuse = () => Promise.reject(new DOMException("no", "NotSupportedError"));
    crypto.subtle.importKey = refuse as typeof real;
    try {
      const found = await checkRecord(evidence());
      expect(overall(found.checks)).toBe("unknown");
      expect(found.checks[1]?.told).toContain("cannot check Ed25519");
    } finally {
      crypto.subtle.importKey = real;
    }
  });
});

describe("the growth of a journal", () => {
  test("is shown between any two of its sizes, and between no other trees", async () => {
    for (const [oldSize, newSize, texts] of vectors.consistency as [number, number, string[]][]) {
      const hashes = texts.map((text) => fromBase64("hash", text));
      const proof = { oldSize, newSize, hashes };
      expect(await verifyConsistency(proof, root(oldSize), root(newSize))).toBeNull();
      if (oldSize === 0) continue;
      const other = await sha256(root(oldSize));
      expect(await verifyConsistency(proof, other, root(newSize))).not.toBeNull();
      const longer = { ...proof, hashes: [...hashes, other] };
      expect(await verifyConsistency(longer, root(oldSize), root(newSize))).not.toBeNull();
    }
  });

  test("is not shown if any one byte of it is another", async () => {
    const [oldSize, newSize] = [5, 13];
    const { hashes } = await compare(oldSize, newSize);
    expect(hashes.length).toBeGreaterThan(2);
    for (const [which, hash] of hashes.entries()) {
      for (let at = 0; at < hash.length; at += 1) {
        const wrong = hash.map((byte, place) => (place === at ? byte ^ 1 : byte)) as Bytes;
        const proof = { oldSize, newSize, hashes: hashes.with(which, wrong) };
        expect(await verifyConsistency(proof, root(oldSize), root(newSize))).not.toBeNull();
      }
    }
  });

  test("is compared with what this browser saw, be it older or newer", async () => {
    for (const size of [1, 4, 5, 7, 13]) {
      const seen = { size, root: root(size), seenMs: NOW };
      const found = await checkRecord(evidence({ pin: { ...pinned, seen } }));
      expect(overall(found.checks), String(size)).toBe("holds");
    }
  });

  test("that left out or changed what was seen is found", async () => {
    const seen = { size: 4, root: root(3), seenMs: NOW };
    const found = await checkRecord(evidence({ pin: { ...pinned, seen } }));
    expect(found.checks.at(-1)).toMatchObject({ name: "consistency", outcome: "fails" });
    const pin = { ...pinned, seen: { size: 40, root: root(4), seenMs: NOW } };
    const silent = () => Promise.reject(new Error("new_size: expected 13 or less"));
    const shrunk = await checkRecord(evidence({ pin, compare: silent }));
    expect(shrunk.checks.at(-1)?.told).toContain("does not show");
    expect(overall(shrunk.checks)).toBe("fails");
  });
});

describe("a key", () => {
  test("is read in its one spelling, with the id that follows from it", async () => {
    expect((await parseKey(vectors.vkey)).name).toBe("log.example/campus");
    for (let at = 0; at < vectors.vkey.length; at += 1) {
      await expect(parseKey(flipped(vectors.vkey, at)), `byte ${at}`).rejects.toThrow();
    }
  });

  test("with which one signature fits everything is refused", () => {
    expect(isWeak(new Uint8Array(32))).toBe(true);
    expect(isWeak(new Uint8Array(32).fill(255))).toBe(true);
    const nine = new Uint8Array(32);
    nine[0] = 9;
    expect(isWeak(nine)).toBe(false);
  });
});

describe("an invoice", () => {
  const { canonical, digest, seq } = vectors.invoice;
  const body = vectors.invoice.body as unknown as InvoiceBody;

  test("has the digest that was sealed, and sums that follow from its lines", async () => {
    expect(canonicalJson(body)).toBe(canonical);
    expect(await digestOf(body)).toBe(digest);
    expect(wrongSums(body)).toEqual([]);
    const proof = vectors.proofs.find((each) => each.seq === seq);
    const wanted = { seq, tenant: "lab" };
    const { record } = await checkRecord(evidence({ file: proof?.file ?? "", wanted }));
    if (record === null) throw new Error("not believed");
    expect(wrongFields(record, body, digest)).toEqual([]);
    expect(wrongFields(record, { ...body, total_micros: 1 }, digest)).toEqual(["total"]);
    expect(wrongFields(record, body, "0".repeat(64))).toEqual(["digest"]);
  });

  test("of which any one byte is another is found", async () => {
    for (let at = 0; at < canonical.length; at += 1) {
      let wrong: unknown;
      try {
        wrong = JSON.parse(flipped(canonical, at));
      } catch {
        continue;
      }
      const made = await digestOf(wrong).catch(() => "none");
      expect(made, `byte ${at}`).not.toBe(digest);
    }
  });

  test("whose sums are not those of its lines is found", () => {
    const dear = { ...body, total_micros: body.total_micros + 1 };
    expect(wrongSums(dear).map((fault) => fault.what)).toEqual(["the total"]);
    const moved = { ...body, by_project: body.by_project.slice(1) };
    expect(wrongSums(moved).map((fault) => fault.what)).toEqual(["project p"]);
  });
});

describe("what a browser keeps", () => {
  test("is read as it was written, and only what is newer takes its place", () => {
    const kept = new Map<string, string>();
    const keep: Keep = {
      getItem: (name) => kept.get(name) ?? null,
      setItem: (name, value) => void kept.set(name, value),
      removeItem: (name) => void kept.delete(name),
    };
    expect(readPin(keep)).toBeNull();
    writePin(keep, pinned);
    remember(keep, pinned, { size: 7, root: root(7), seenMs: NOW });
    const found = readPin(keep);
    expect(found?.seen?.size).toBe(7);
    expect(base64(found?.seen?.root ?? new Uint8Array())).toBe(vectors.roots[7]);
    if (found !== null) remember(keep, found, { size: 5, root: root(5), seenMs: NOW });
    expect(readPin(keep)?.seen?.size).toBe(7);
    kept.set("bailiwick.proof", "{");
    expect(readPin(keep)).toBeNull();
  });
});

test("SHA-256 is SHA-256", async () => {
  const digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  expect(hex(await sha256(new Uint8Array()))).toBe(digest);
});
