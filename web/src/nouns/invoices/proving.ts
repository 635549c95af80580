// An invoice against the journal: finds the record that sealed it, proves that record, and compares.
import { useQuery } from "@tanstack/react-query";
import { api, ask, type Schemas } from "@/api/client";
import { proveRecord } from "@/nouns/records/proving";
import type { Check } from "@/proof/checks";
import { digestOf, wrongFields, wrongSums } from "@/proof/invoice";
import { count, fine } from "@/words/amounts";

type Invoice = Schemas["Invoice"];

/** Pages of the journal that are looked through for the record; one page is up to 2,000 records. */
const PAGES_MAX = 50;

export interface CheckedInvoice {
  checks: Check[];
  seq: number;
}

export function useInvoiceCheck(invoice: Invoice, isOn: boolean) {
  const { tenant, invoice_id: name } = invoice.body;
  return useQuery({
    queryKey: ["proof", "invoice", tenant, name],
    enabled: isOn,
    staleTime: Infinity,
    queryFn: () => proveInvoice(invoice),
  });
}

async function proveInvoice(invoice: Invoice): Promise<CheckedInvoice> {
  const { body } = invoice;
  const seq = await findSealed(body.tenant, body.invoice_id, body.journal_size);
  const { checks, record } = await proveRecord(body.tenant, seq);
  const digest = await digestOf(body);
  const wrong = record === null ? ["record"] : wrongFields(record, body, digest);
  const lines = body.lines.length + (body.unit_lines?.length ?? 0) + (body.settled_lines?.length ?? 0);
  const sealed: Check =
    wrong.length === 0
      ? {
          name: "invoice_digest",
          outcome: "holds",
          told: `Its SHA-256 (it begins ${digest.slice(0, 12)}), period, total and name are those of record ${count(seq)}.`,
        }
      : {
          name: "invoice_digest",
          outcome: "fails",
          told: `Record ${count(seq)} says otherwise about: ${wrong.join(", ")}.`,
        };
  return { checks: [...checks, sealed, sumsCheck(invoice, lines)], seq };
}

function sumsCheck({ body }: Invoice, lines: number): Check {
  const faults = wrongSums(body);
  if (faults.length === 0) {
    const sum = `${fine(body.total_micros)} ${body.currency}`;
    const told = `${count(lines)} lines were added up anew: they come to ${sum}, for each project and generation as it says, to the last micro.`;
    return { name: "invoice_sums", outcome: "holds", told };
  }
  const told = faults.map((fault) => `${fault.what} is told as ${fault.told}, and is ${fault.found}`);
  return { name: "invoice_sums", outcome: "fails", told: `${told.join("; ")} (micros).` };
}

/** It was sealed after all records that it was computed from. */
async function findSealed(tenant: string, name: string, size: number): Promise<number> {
  let cursor: string | null = String(size);
  for (let page = 0; page < PAGES_MAX && cursor !== null; page += 1) {
    const params: { path: { tenant: string }; query: { cursor: string; limit: number } } = {
      path: { tenant },
      query: { cursor, limit: 500 },
    };
    const found: Schemas["Page_JournalRecord_"] = await ask(
      api.GET("/v1/tenants/{tenant}/records", { params }),
    );
    const row = found.items.find(
      (record) => record.kind === "invoice_issued" && record.body["invoice"] === name,
    );
    if (row !== undefined) return row.seq;
    cursor = found.next ?? null;
  }
  throw new Error(
    `the record that sealed ${name} is not among those that were looked through; ` +
      "bailiwick invoice recompute checks it from the whole journal",
  );
}
