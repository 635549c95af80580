// From what is typed into the form to a quota or a budget, and back. Pure, and strict: what makes no
// sense is nothing.
import type { Schemas } from "@/api/client";

export type Quota = Schemas["Quota"];

const GIB = 2 ** 30;

/** What can be limited, what it is called, and how many of the wire's units one of the form's is. */
export const LIMITS = [
  ["gpu_count", "GPUs", 1],
  ["cpu_milli", "CPU cores", 1_000],
  ["mem_bytes", "Memory, GiB", GIB],
  ["block_bytes", "Block storage, GiB", GIB],
  ["gpu_vram", "GPU memory, GiB", GIB],
  ["lease_count", "Leases", 1],
] as const;

export type Typed = Record<string, string>;

/** What stands in the form: a limit that there is not is an empty field. */
export function typedOf(quota: Quota): Typed {
  const limits: Record<string, number> = quota.limits ?? {};
  const typed: Typed = {};
  for (const [word, , unit] of LIMITS) {
    const limit = limits[word];
    typed[word] = limit === undefined ? "" : String(limit / unit);
  }
  for (const [word, limit] of Object.entries(quota.gpu_limits ?? {})) typed[word] = String(limit);
  return typed;
}

/** The quota as it would be; null while something typed is no limit. */
export function quotaOf(before: Quota, typed: Typed): Quota | null {
  const limits: Record<string, number> = {};
  const kinds: Record<string, number> = {};
  const units = new Map<string, number>(LIMITS.map(([word, , unit]) => [word, unit]));
  for (const [word, text] of Object.entries(typed)) {
    if (text.trim() === "") continue;
    const value = Number(text);
    if (!Number.isFinite(value) || value < 0) return null;
    const unit = units.get(word);
    if (unit === undefined) kinds[word] = Math.floor(value);
    else limits[word] = Math.round(value * unit);
  }
  return { ...before, limits, gpu_limits: kinds };
}

/** An amount of money in millionths; null if it is none. */
export function microsOf(text: string): number | null {
  if (!/^\d{1,9}(\.\d{1,6})?$/.test(text.trim())) return null;
  return Math.round(Number(text) * 1_000_000);
}
