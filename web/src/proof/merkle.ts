// The Merkle tree of RFC 6962 over the records: whether a leaf is in a tree, and whether one tree is
// the begin of another. Nothing is believed but the proof and the roots (RFC 9162, 2.1.3.2, 2.1.4.2).
import { isSame, joined, sha256, type Bytes } from "./bytes";

export const HASH_BYTES = 32;
export type ProofFault =
  | "out_of_range"
  | "wrong_length"
  | "root_mismatch"
  | "old_root_mismatch"
  | "new_root_mismatch";

/** Null if it holds. */
export type ProofVerdict = ProofFault | null;

export function leafHash(data: Bytes): Promise<Bytes> {
  return sha256(joined(new Uint8Array([0]), data));
}

export function nodeHash(left: Bytes, right: Bytes): Promise<Bytes> {
  return sha256(joined(new Uint8Array([1]), left, right));
}

export interface InclusionProof {
  index: number;
  size: number;
  hashes: Bytes[];
}

export interface ConsistencyProof {
  oldSize: number;
  newSize: number;
  hashes: Bytes[];
}

const half = (number: number) => Math.floor(number / 2);
const isOdd = (number: number) => number % 2 === 1;
const isHash = (value: Bytes) => value.length === HASH_BYTES;

export async function verifyInclusion(
  leaf: Bytes,
  { index, size, hashes }: InclusionProof,
  root: Bytes,
): Promise<ProofVerdict> {
  if (!isCount(index) || !isCount(size) || index >= size) return "out_of_range";
  let [node, last, value] = [index, size - 1, leaf];
  for (const other of hashes) {
    if (last === 0 || !isHash(other)) return "wrong_length";
    if (isOdd(node) || node === last) {
      value = await nodeHash(other, value);
      while (node > 0 && !isOdd(node)) [node, last] = [half(node), half(last)];
    } else {
      value = await nodeHash(value, other);
    }
    [node, last] = [half(node), half(last)];
  }
  if (last !== 0) return "wrong_length";
  return isSame(value, root) ? null : "root_mismatch";
}

export async function verifyConsistency(
  { oldSize, newSize, hashes }: ConsistencyProof,
  oldRoot: Bytes,
  newRoot: Bytes,
): Promise<ProofVerdict> {
  if (!isCount(oldSize) || !isCount(newSize) || oldSize > newSize) return "out_of_range";
  if (oldSize === newSize) {
    if (hashes.length > 0) return "wrong_length";
    return isSame(oldRoot, newRoot) ? null : "new_root_mismatch";
  }
  if (oldSize === 0) {
    if (hashes.length > 0) return "wrong_length";
    return isSame(oldRoot, await sha256(new Uint8Array())) ? null : "old_root_mismatch";
  }
  if (!hashes.every(isHash)) return "wrong_length";
  const path = isPowerOfTwo(oldSize) ? [oldRoot, ...hashes] : hashes;
  let [node, last] = [oldSize - 1, newSize - 1];
  while (isOdd(node)) [node, last] = [half(node), half(last)];
  const first = path[0];
  if (first === undefined) return "wrong_length";
  let [left, right] = [first, first];
  for (const other of path.slice(1)) {
    if (last === 0) return "wrong_length";
    if (isOdd(node) || node === last) {
      [left, right] = [await nodeHash(other, left), await nodeHash(other, right)];
      while (node > 0 && !isOdd(node)) [node, last] = [half(node), half(last)];
    } else {
      right = await nodeHash(right, other);
    }
    [node, last] = [half(node), half(last)];
  }
  if (last !== 0) return "wrong_length";
  if (!isSame(left, oldRoot)) return "old_root_mismatch";
  return isSame(right, newRoot) ? null : "new_root_mismatch";
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function isPowerOfTwo(value: number): boolean {
  return Number.isInteger(Math.log2(value)) && 2 ** Math.round(Math.log2(value)) === value;
}
