// A record and its proof as a file (C2SP tlog-proof with the record as `extra`), and the one way in
// which a value is written (RFC 8785, for ASCII keys and integers, which is all that a record has).
import { fromBase64, Malformed, utf8, isSame, type Bytes } from "./bytes";
import { HASH_BYTES } from "./merkle";

const FORMAT = "c2sp.org/tlog-proof@v1";
const RECORD_BYTES_MAX = 65_535;
const DEPTH_MAX = 32;
const FIELDS = [
  ...["actor", "at_ms", "body", "correlation_id", "kind", "prev_hash", "project", "seq", "tenant"],
];

export interface SealedRecord {
  seq: number;
  at_ms: number;
  kind: string;
  tenant: string | null;
  project: string | null;
  actor: string;
  correlation_id: string;
  body: Record<string, unknown>;
  prev_hash: string;
}

export interface RecordProof {
  canonical: Bytes;
  index: number;
  hashes: Bytes[];
  /** The signed checkpoint, as it was published. */
  note: string;
}

/** Its form is checked; nothing in it is believed yet. */
export function parseProof(file: string): RecordProof {
  const cut = file.indexOf("\n\n");
  const [format, extra, index, ...lines] = file.slice(0, Math.max(0, cut)).split("\n");
  const packed = /^extra ([A-Za-z0-9+/=]+)$/.exec(extra ?? "")?.[1];
  const place = /^index (0|[1-9][0-9]{0,15})$/.exec(index ?? "")?.[1];
  if (format !== FORMAT || packed === undefined || place === undefined || lines.length > 63) {
    throw new Malformed("proof", `a ${FORMAT} file with the record as extra`);
  }
  const hashes = lines.map((line) => fromBase64("hash", line));
  if (hashes.some((value) => value.length !== HASH_BYTES)) {
    throw new Malformed("hash", `${HASH_BYTES} bytes each`);
  }
  const canonical = fromBase64("extra", packed);
  return { canonical, index: Number(place), hashes, note: file.slice(cut + 2) };
}

/** The record that these bytes are. A key twice, a space, another order: all are refused. */
export function parseRecord(canonical: Bytes): SealedRecord {
  if (canonical.length > RECORD_BYTES_MAX) throw new Malformed("record", "at most 65535 bytes");
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(canonical));
  } catch {
    throw new Malformed("record", "one JSON object in UTF-8");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Malformed("record", "one JSON object");
  }
  const names = Object.keys(value).sort();
  if (names.join() !== FIELDS.join()) throw new Malformed("record", "the fields of a record");
  if (!isSame(utf8(canonicalJson(value)), canonical)) {
    throw new Malformed("record", "its one canonical spelling");
  }
  const { seq, kind, prev_hash: before, body } = value as Record<string, unknown>;
  const isShaped =
    typeof seq === "number" && typeof kind === "string" && typeof body === "object" && body !== null;
  if (!isShaped || typeof before !== "string" || !/^[0-9a-f]{64}$/.test(before)) {
    throw new Malformed("record", "a number, a kind, a body and the hash before it");
  }
  return value as SealedRecord;
}

/** A value of texts, integers, lists and objects as RFC 8785 writes it. */
export function canonicalJson(value: unknown, depth = 0): string {
  if (depth > DEPTH_MAX) throw new Malformed("value", `at most ${DEPTH_MAX} levels`);
  if (value === null || typeof value === "boolean" || typeof value === "string") {
    return JSON.stringify(value);
  }
  if (typeof value === "number") {
    if (!Number.isSafeInteger(value)) throw new Malformed("number", "an integer below 2^53");
    return String(value);
  }
  if (Array.isArray(value)) {
    return `[${value.map((each) => canonicalJson(each, depth + 1)).join(",")}]`;
  }
  if (typeof value !== "object") throw new Malformed("value", "what JSON can say");
  const held = value as Record<string, unknown>;
  const rows = Object.keys(held)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonicalJson(held[name], depth + 1)}`);
  return `{${rows.join(",")}}`;
}
