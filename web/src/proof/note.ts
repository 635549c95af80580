// Signed checkpoints (C2SP signed-note and tlog-checkpoint): what the journal says of itself, and by
// which key it says so.
import { fromBase64, hex, isSame, joined, Malformed, sha256, subtle, utf8, type Bytes } from "./bytes";
import { HASH_BYTES } from "./merkle";

const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
const ED25519 = 1;
const DASH = "— ";
const SIGNATURES_MAX = 64;
const PRIME = 2n ** 255n - 19n;
const ORDER_8_Y = 0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n;
/** The y of every point whose order divides eight: with such a key one signature fits everything. */
const SMALL_ORDER_Y = [1n, PRIME - 1n, 0n, ORDER_8_Y, PRIME - ORDER_8_Y];

export interface VerifierKey {
  name: string;
  key: Bytes;
  id: Bytes;
  /** As it is written: name+id+base64. */
  text: string;
}

export interface Checkpoint {
  origin: string;
  size: number;
  root: Bytes;
}

interface SignedNote {
  text: string;
  signatures: { name: string; id: Bytes; signature: Bytes }[];
}

/** "unsupported": this browser knows no Ed25519, so nothing was said about the signature. */
export type SignatureVerdict = "signed" | "bad_signature" | "unknown_key" | "unsupported";

export async function parseKey(text: string): Promise<VerifierKey> {
  const found = /^([^+\s]{1,255})\+([0-9a-f]{8})\+([A-Za-z0-9+/]{1,64}={0,2})$/.exec(text);
  const [, name, id, packed] = found ?? [];
  if (name === undefined || id === undefined || packed === undefined) {
    throw new Malformed("key", "name+id+base64");
  }
  const bytes = fromBase64("key", packed);
  if (bytes.length !== 1 + KEY_BYTES || bytes[0] !== ED25519) {
    throw new Malformed("key", "an Ed25519 key of a log");
  }
  const key = bytes.slice(1);
  if (isWeak(key)) throw new Malformed("key", "one that is not of small order");
  const made = (await sha256(joined(utf8(`${name}\n`), bytes))).slice(0, 4);
  if (hex(made) !== id) throw new Malformed("key", `the id ${hex(made)} of its name and key`);
  return { name, key, id: made, text };
}

/** Whoever trusts a key of small order, or one spelled in two ways, trusts everybody. */
export function isWeak(key: Bytes): boolean {
  let y = 0n;
  for (let at = KEY_BYTES - 1; at >= 0; at -= 1) y = (y << 8n) | BigInt(key[at] ?? 0);
  y &= 2n ** 255n - 1n;
  return y >= PRIME || SMALL_ORDER_Y.includes(y);
}

/** The SHA-256 of the key itself: what two people read to each other. */
export function fingerprint(key: VerifierKey): Promise<Bytes> {
  return sha256(key.key);
}

export function parseNote(whole: string): SignedNote {
  // eslint-disable-next-line no-control-regex -- that there is none is the question
  if (/[\u0000-\u0009\u000b-\u001f]/.test(whole)) {
    throw new Malformed("note", "no control character but newlines");
  }
  const cut = whole.lastIndexOf("\n\n");
  const lines = whole.slice(cut + 2).split("\n");
  if (cut < 0 || lines.pop() !== "" || lines.length === 0 || lines.length > SIGNATURES_MAX) {
    throw new Malformed("note", `a text and 1 to ${SIGNATURES_MAX} signature lines`);
  }
  return { text: `${whole.slice(0, cut)}\n`, signatures: lines.map(parseSignature) };
}

function parseSignature(line: string) {
  const [name, packed, ...rest] = line.slice(DASH.length).split(" ");
  if (!line.startsWith(DASH) || !name || packed === undefined || rest.length > 0) {
    throw new Malformed("signature line", "dash, name and base64");
  }
  const bytes = fromBase64("signature", packed);
  if (bytes.length < 5) throw new Malformed("signature", "a key id and a signature");
  return { name, id: bytes.slice(0, 4), signature: bytes.slice(4) };
}

export function parseCheckpoint(text: string): Checkpoint {
  const lines = text.split("\n");
  const [origin, size, root] = lines;
  const isWhole = lines.length >= 4 && lines.at(-1) === "" && !lines.slice(0, -1).includes("");
  if (!isWhole || origin === undefined || !/^(0|[1-9][0-9]{0,15})$/.test(size ?? "")) {
    throw new Malformed("checkpoint", "lines of origin, size and root");
  }
  const count = Number(size);
  if (!Number.isSafeInteger(count)) throw new Malformed("checkpoint", "a size that fits");
  const hash = fromBase64("root", root ?? "");
  if (hash.length !== HASH_BYTES) throw new Malformed("root", `${HASH_BYTES} bytes in base64`);
  return { origin, size: count, root: hash };
}

/** Whether this key, and as the log that it names, signed the note. */
export async function verifyNote(note: SignedNote, key: VerifierKey): Promise<SignatureVerdict> {
  const mine = note.signatures.filter((line) => line.name === key.name && isSame(line.id, key.id));
  if (mine.length === 0 || parseCheckpoint(note.text).origin !== key.name) return "unknown_key";
  let held: CryptoKey;
  try {
    held = await subtle().importKey("raw", key.key, { name: "Ed25519" }, false, ["verify"]);
  } catch (error) {
    if (error instanceof DOMException && error.name === "NotSupportedError") return "unsupported";
    return "bad_signature";
  }
  for (const { signature } of mine) {
    if (signature.length !== SIGNATURE_BYTES) return "bad_signature";
    const signed = await subtle().verify({ name: "Ed25519" }, held, signature, utf8(note.text));
    if (!signed) return "bad_signature";
  }
  return "signed";
}
