// An invoice against what the journal sealed of it: its digest, and every sum in it added up anew.
import type { Schemas } from "@/api/client";
import { hex, sha256, utf8 } from "./bytes";
import { canonicalJson, type SealedRecord } from "./record";

export type InvoiceBody = Schemas["InvoiceBody"];

/** SHA-256 of the body's canonical bytes. */
export async function digestOf(body: unknown): Promise<string> {
  return hex(await sha256(utf8(canonicalJson(body))));
}

export interface SumFault {
  what: string;
  told: number;
  found: number;
}

/** The sums that are not those of the lines; none if all agree to the last micro. */
export function wrongSums(body: InvoiceBody): SumFault[] {
  const all = [...body.lines, ...(body.unit_lines ?? []), ...(body.settled_lines ?? [])];
  const faults: SumFault[] = [];
  const compare = (what: string, told: number, found: number) => {
    if (told !== found) faults.push({ what, told, found });
  };
  compare("the total", body.total_micros, sum(all));
  compareGroups(
    "project",
    new Map(body.by_project.map((row) => [row.project, row.cost_micros])),
    grouped(all, (line) => line.project),
    compare,
  );
  compareGroups(
    "generation",
    new Map(body.by_generation.map((row) => [row.generation, row.cost_micros])),
    grouped(body.lines, (line) => line.generation),
    compare,
  );
  return faults;
}

type Compare = (what: string, told: number, found: number) => void;

function compareGroups<K extends string | null>(
  noun: string,
  told: Map<K, number>,
  found: Map<K, number>,
  compare: Compare,
) {
  for (const name of new Set([...told.keys(), ...found.keys()])) {
    const what = `${noun} ${name ?? "of none"}`;
    compare(what, told.get(name) ?? Number.NaN, found.get(name) ?? Number.NaN);
  }
}

function sum(lines: { cost_micros: number }[]): number {
  return lines.reduce((total, line) => total + line.cost_micros, 0);
}

function grouped<T extends { cost_micros: number }, K>(
  lines: T[],
  keyOf: (line: T) => K,
): Map<K, number> {
  const sums = new Map<K, number>();
  for (const line of lines) sums.set(keyOf(line), (sums.get(keyOf(line)) ?? 0) + line.cost_micros);
  return sums;
}

/** What the sealed record says of an invoice that its body does not; none if they are one. */
export function wrongFields(record: SealedRecord, body: InvoiceBody, digest: string): string[] {
  const sealed = record.body;
  const pairs: [string, unknown, unknown][] = [
    ["tenant", record.tenant, body.tenant],
    ["project", record.project, body.project],
    ["kind of record", record.kind, "invoice_issued"],
    ["name", sealed["invoice"], body.invoice_id],
    ["begin", sealed["period_start_ms"], body.from_ms],
    ["end", sealed["period_end_ms"], body.to_ms],
    ["journal size", sealed["journal_size"], body.journal_size],
    ["total", sealed["total_micros"], body.total_micros],
    ["currency", sealed["currency"], body.currency],
    ["corrected invoice", sealed["corrects"] ?? null, body.corrects],
    ["digest", sealed["digest"], digest],
  ];
  return pairs.filter(([, told, found]) => told !== found).map(([name]) => name);
}
