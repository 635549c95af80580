// Sums over the fleet for the figures of an operator's home.
import type { Schemas } from "@/api/client";

export function sumOf(nodes: Schemas["Node"][], leases: Schemas["Lease"][]) {
  const gpus = nodes.reduce((sum, node) => sum + node.gpus.length, 0);
  const taking = nodes.filter((node) => node.takes_leases).length;
  const leasedMilli = leases.reduce((sum, lease) => sum + (lease.resources.gpu_milli ?? 0), 0);
  const percent = gpus === 0 ? 0 : Math.round(leasedMilli / gpus / 10);
  return { gpus, nodes: nodes.length, taking, closed: nodes.length - taking, leasedMilli, percent };
}

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
