// A record, checked step by step. Every step says in words what was done and with which numbers;
// what could not be done says so, and counts as neither.
import { assertNever } from "@/words/assert-never";
import { count } from "@/words/amounts";
import { grouped, hex, Malformed, NoCrypto, sha256, type Bytes } from "./bytes";
import {
  leafHash,
  verifyConsistency,
  verifyInclusion,
  type ConsistencyProof,
  type ProofFault,
} from "./merkle";
import { fingerprint, parseCheckpoint, parseKey, parseNote, verifyNote } from "./note";
import type { Checkpoint, VerifierKey } from "./note";
import type { Pin, SeenCheckpoint } from "./pin";
import { parseProof, parseRecord, type RecordProof, type SealedRecord } from "./record";

export type Outcome = "holds" | "fails" | "unknown";
export type CheckName =
  | "key"
  | "signature"
  | "inclusion"
  | "record"
  | "consistency"
  | "invoice_digest"
  | "invoice_sums";

export interface Check {
  name: CheckName;
  outcome: Outcome;
  told: string;
}

export interface CheckedRecord {
  checks: Check[];
  /** Only if its bytes are in the tree that was checked. */
  record: SealedRecord | null;
  recordHash: string | null;
  checkpoint: Checkpoint | null;
}

export type Compare = (oldSize: number, newSize: number) => Promise<ConsistencyProof>;

export interface Evidence {
  /** The proof as the server sent it. */
  file: string;
  /** The key that the server shows today. */
  shown: string;
  pin: Pin;
  /** Asks the server to show that one tree is the begin of another. */
  compare: Compare;
  wanted: { seq: number; tenant: string };
}

/** The verdict over all steps: one that fails is enough. */
export function overall(checks: Check[]): Outcome {
  if (checks.some((check) => check.outcome === "fails")) return "fails";
  return checks.some((check) => check.outcome === "unknown") ? "unknown" : "holds";
}

export async function checkRecord(evidence: Evidence): Promise<CheckedRecord> {
  const checks: Check[] = [];
  const found: CheckedRecord = { checks, record: null, recordHash: null, checkpoint: null };
  try {
    const key = await parseKey(evidence.pin.vkey);
    checks.push(await checkKey(evidence, key));
    const proof = parseProof(evidence.file);
    const note = parseNote(proof.note);
    const checkpoint = parseCheckpoint(note.text);
    found.checkpoint = checkpoint;
    checks.push(signatureCheck(await verifyNote(note, key), key, checkpoint));
    checks.push(await checkInclusion(proof, checkpoint));
    if (overall(checks.slice(-1)) === "holds") {
      const [check, record] = checkShape(proof, evidence.wanted);
      checks.push(check);
      found.record = record;
      found.recordHash = hex(await sha256(proof.canonical));
    }
    checks.push(await checkGrowth(evidence, checkpoint));
  } catch (error) {
    checks.push(unreadable(error));
  }
  return found;
}

/** A text that cannot be read proves nothing; a browser without cryptography says nothing. */
function unreadable(error: unknown): Check {
  if (error instanceof NoCrypto) {
    return { name: "signature", outcome: "unknown", told: `Nothing was checked: ${error.message}.` };
  }
  if (error instanceof Malformed) {
    const told = `What the server sent is no proof (${error.message}).`;
    return { name: "inclusion", outcome: "fails", told };
  }
  throw error;
}

async function checkKey({ shown, pin }: Evidence, key: VerifierKey): Promise<Check> {
  const mark = grouped((await fingerprint(key)).slice(0, 8));
  const when = new Date(pin.pinnedMs).toISOString().slice(0, 16).replace("T", " ");
  if (shown.trimEnd() !== key.text) {
    const told =
      `The server shows another key than the one this browser trusts since ${when} UTC ` +
      `(fingerprint begins ${mark}). Either its operator replaced the key, and can tell you so ` +
      "himself, or this is not the journal that you saw before.";
    return { name: "key", outcome: "fails", told };
  }
  const how =
    pin.source === "given"
      ? "that you gave to this browser"
      : "that this browser saw first and trusts since then";
  return {
    name: "key",
    outcome: "holds",
    told: `The server's key is the one ${how} (${when} UTC; fingerprint begins ${mark}).`,
  };
}

function signatureCheck(
  verdict: Awaited<ReturnType<typeof verifyNote>>,
  key: VerifierKey,
  { size }: Checkpoint,
): Check {
  const name = "signature";
  switch (verdict) {
    case "signed":
      return {
        name,
        outcome: "holds",
        told: `The key of ${key.name} signed the checkpoint of ${count(size)} records (Ed25519).`,
      };
    case "bad_signature":
      return {
        name,
        outcome: "fails",
        told: `The signature under the checkpoint of ${count(size)} records is not by the key of ${key.name}.`,
      };
    case "unknown_key":
      return {
        name,
        outcome: "fails",
        told: "The checkpoint is not signed by the key that this browser trusts.",
      };
    case "unsupported":
      return {
        name,
        outcome: "unknown",
        told:
          "This browser cannot check Ed25519 signatures, so whether the key signed the checkpoint " +
          "is not known. A newer browser can, and so can bailiwick journal check-proof.",
      };
    default:
      return assertNever(verdict);
  }
}

async function checkInclusion(proof: RecordProof, { size, root }: Checkpoint): Promise<Check> {
  const path = { index: proof.index, size, hashes: proof.hashes };
  const fault = await verifyInclusion(await leafHash(proof.canonical), path, root);
  const way = `${count(proof.canonical.length)} bytes over ${count(proof.hashes.length)} neighbours`;
  return fault === null
    ? {
        name: "inclusion",
        outcome: "holds",
        told: `Record ${count(proof.index)} is in the tree of ${count(size)} records: ${way} lead to its root, which begins ${short(root)}.`,
      }
    : {
        name: "inclusion",
        outcome: "fails",
        told: `Record ${count(proof.index)} is not shown to be in the tree of ${count(size)} records: ${faultTold(fault)}.`,
      };
}

function checkShape(
  { canonical, index }: RecordProof,
  wanted: Evidence["wanted"],
): [Check, SealedRecord | null] {
  const record = parseRecord(canonical);
  if (record.seq !== index || index !== wanted.seq || record.tenant !== wanted.tenant) {
    const told = `The proof is of record ${count(record.seq)} of ${record.tenant ?? "the fleet"}, not of the one that was asked for.`;
    return [{ name: "record", outcome: "fails", told }, null];
  }
  const before = `the hash of the record before (it begins ${record.prev_hash.slice(0, 12)})`;
  const told = `Its bytes are written in the one canonical way, bear the number ${count(index)}, and name ${before}.`;
  return [{ name: "record", outcome: "holds", told }, record];
}

async function checkGrowth({ pin, compare }: Evidence, now: Checkpoint): Promise<Check> {
  const name = "consistency";
  const { seen } = pin;
  if (seen === null) {
    const told = `This browser had seen no checkpoint of this server. It keeps this one (${count(now.size)} records) to compare the next with.`;
    return { name, outcome: "holds", told };
  }
  const [old, young] = inOrder(seen, now);
  let proof: ConsistencyProof;
  try {
    proof = await compare(old.size, young.size);
  } catch (error) {
    const why = error instanceof Error ? error.message : "no answer";
    const told = `The server does not show that its journal of ${count(young.size)} records begins with the ${count(old.size)} that it had (${why}).`;
    return { name, outcome: "fails", told };
  }
  const isAsked = proof.oldSize === old.size && proof.newSize === young.size;
  const fault = isAsked ? await verifyConsistency(proof, old.root, young.root) : "out_of_range";
  const since = new Date(seen.seenMs).toISOString().slice(0, 16).replace("T", " ");
  return fault === null
    ? {
        name,
        outcome: "holds",
        told: `The ${count(old.size)} records are the begin of the ${count(young.size)}: nothing was changed or left out since this browser looked (${since} UTC).`,
      }
    : {
        name,
        outcome: "fails",
        told: `The journal is not the one that this browser saw (${count(seen.size)} records at ${since} UTC): ${faultTold(fault)}.`,
      };
}

function inOrder(seen: SeenCheckpoint, now: Checkpoint) {
  const before = { size: seen.size, root: seen.root };
  const after = { size: now.size, root: now.root };
  return before.size <= after.size ? ([before, after] as const) : ([after, before] as const);
}

function short(hash: Bytes): string {
  return hex(hash).slice(0, 12);
}

function faultTold(fault: ProofFault): string {
  switch (fault) {
    case "out_of_range":
      return "it is about other sizes";
    case "wrong_length":
      return "it has the wrong number of hashes";
    case "root_mismatch":
      return "it leads to another root than the signed one";
    case "old_root_mismatch":
      return "it does not lead to the root that was seen";
    case "new_root_mismatch":
      return "it does not lead to the signed root";
    default:
      return assertNever(fault);
  }
}
