// Who waits longest, for an operator's home.
import type { Schemas } from "@/api/client";

export interface Starving {
  tenant: string;
  waiting: number;
  sinceMs: number;
}

const SHOWN_MAX = 6;

/** Tenants by how long their oldest request waits. */
export function starving(entries: Schemas["QueueEntry"][]): Starving[] {
  const found = new Map<string, Starving>();
  for (const entry of entries) {
    const row = found.get(entry.tenant) ?? {
      tenant: entry.tenant,
      waiting: 0,
      sinceMs: entry.submitted_ms,
    };
    row.waiting += 1;
    row.sinceMs = Math.min(row.sinceMs, entry.submitted_ms);
    found.set(entry.tenant, row);
  }
  return [...found.values()].sort((one, other) => one.sinceMs - other.sinceMs).slice(0, SHOWN_MAX);
}
