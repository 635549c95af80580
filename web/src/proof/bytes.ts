// Bytes, their spellings, and their SHA-256. A spelling is taken only in its one canonical form.

/** Bytes that WebCrypto takes. */
export type Bytes = Uint8Array<ArrayBuffer>;

/** A text that is not what it should be: where, and what was wanted. */
export class Malformed extends Error {
  constructor(what: string, wanted: string) {
    super(`${what}: expected ${wanted}`);
    this.name = "Malformed";
  }
}

/** This browser gives the page no cryptography: over plain http it does so on loopback only. */
export class NoCrypto extends Error {
  constructor() {
    super("this browser gives a page no cryptography at an address without https");
    this.name = "NoCrypto";
  }
}

export function subtle(): SubtleCrypto {
  const found = globalThis.crypto?.subtle as SubtleCrypto | undefined;
  if (found === undefined) throw new NoCrypto();
  return found;
}

export async function sha256(data: Bytes): Promise<Bytes> {
  return new Uint8Array(await subtle().digest("SHA-256", data));
}

export function utf8(text: string): Bytes {
  return new TextEncoder().encode(text) as Bytes;
}

export function joined(...parts: Bytes[]): Bytes {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

export function isSame(one: Bytes, other: Bytes): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}

export function hex(data: Bytes): string {
  return Array.from(data, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A hash as people compare it: in groups of four. */
export function grouped(data: Bytes): string {
  return hex(data).replace(/(.{4})(?=.)/g, "$1 ");
}

export function base64(data: Bytes): string {
  return btoa(Array.from(data, (byte) => String.fromCharCode(byte)).join(""));
}

/** The bytes of standard base64 in its one canonical spelling: no stray bits, no spaces. */
export function fromBase64(what: string, text: string): Bytes {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) throw new Malformed(what, "standard base64");
  let raw: string;
  try {
    raw = atob(text);
  } catch {
    throw new Malformed(what, "standard base64");
  }
  const data = Uint8Array.from(raw, (char) => char.charCodeAt(0));
  if (base64(data) !== text) throw new Malformed(what, "base64 without stray bits");
  return data;
}
