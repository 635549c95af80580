// What this browser has kept of a server's journal: the key that the person trusts, and the newest
// checkpoint that was seen and held. Storage of one origin is storage of one server.
import { base64, fromBase64, type Bytes } from "./bytes";

export interface SeenCheckpoint {
  size: number;
  root: Bytes;
  seenMs: number;
}

/** How a key came to be trusted: as the first that the server showed, or from somebody's hand. */
export type PinSource = "first_use" | "given";

export interface Pin {
  vkey: string;
  source: PinSource;
  pinnedMs: number;
  seen: SeenCheckpoint | null;
}

export type Keep = Pick<Storage, "getItem" | "setItem" | "removeItem">;

const PLACE = "bailiwick.proof";

export function readPin(keep: Keep): Pin | null {
  try {
    const found = JSON.parse(keep.getItem(PLACE) ?? "null") as Record<string, unknown> | null;
    if (found === null || typeof found["vkey"] !== "string") return null;
    const seen = found["seen"] as { size: number; root: string; seenMs: number } | null;
    return {
      vkey: found["vkey"],
      source: found["source"] === "given" ? "given" : "first_use",
      pinnedMs: Number(found["pinnedMs"]),
      seen:
        seen === null
          ? null
          : { size: seen.size, root: fromBase64("root", seen.root), seenMs: seen.seenMs },
    };
  } catch {
    return null;
  }
}

export function writePin(keep: Keep, pin: Pin): void {
  const seen = pin.seen === null ? null : { ...pin.seen, root: base64(pin.seen.root) };
  keep.setItem(PLACE, JSON.stringify({ ...pin, seen }));
}

/** Only what is newer than what was kept takes its place. */
export function remember(keep: Keep, pin: Pin, seen: SeenCheckpoint): void {
  if (pin.seen === null || seen.size >= pin.seen.size) writePin(keep, { ...pin, seen });
}

export function forgetPin(keep: Keep): void {
  keep.removeItem(PLACE);
}
