// The lines of an invoice. Each opens to the stretches that it adds up: which lease held how much of
// which device, from when to when, and the records that gave it and took it back.
import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { api, ask, type Schemas } from "@/api/client";
import { useRows } from "@/api/rows";
import { moment } from "@/parts/age";
import { LeaseLink, NodeLink, RecordLink } from "@/parts/links";
import { Panel } from "@/parts/panel";
import { RowList } from "@/parts/row-list";
import { Empty } from "@/parts/states";
import type { Column } from "@/parts/table";
import { amount, count, generation, fine, span, spell } from "@/words/amounts";

type Body = Schemas["InvoiceBody"];
type Line = Schemas["InvoiceLine"];
type Stretch = Schemas["Stretch"];

export function InvoiceLines({ body }: { body: Body }) {
  return (
    <>
      <Panel title="Lines" flush aside="open one to see every second of it">
        {body.lines.length === 0 ? (
          <Empty title="Nothing was used" />
        ) : (
          <ol>
            {body.lines.map((line, at) => (
              <InvoiceLine key={at} body={body} line={line} number={at + 1} />
            ))}
          </ol>
        )}
      </Panel>
      <OtherLines body={body} />
    </>
  );
}

function InvoiceLine({ body, line, number }: { body: Body; line: Line; number: number }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <li className="break-inside-avoid border-b border-line/60 last:border-0">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="grid w-full grid-cols-[auto_1fr_auto] items-center gap-x-3 px-4 py-2 text-left hover:bg-raised"
      >
        <ChevronRight
          size={14}
          aria-hidden
          className={`shrink-0 text-muted print:hidden ${isOpen ? "rotate-90" : ""}`}
        />
        <span className="min-w-0">
          <span className="font-medium">
            {number}. {line.generation === null ? "" : `${generation(line.generation)}, `}
            {resource(line)}
          </span>{" "}
          <span className="text-muted">
            {line.project ?? "no project"}
            {line.tag === null ? "" : `, tag ${line.tag}`}, {spell(line.lease_class)},{" "}
            {spell(line.stage)}
            {line.cause === null ? "" : ` (${spell(line.cause)})`}
          </span>
          <span className="block text-xs text-muted">
            {line.quantity} {line.unit} at {fine(line.price_micros_per_hour)} {body.currency} an hour
            {line.price_per_mille === 1_000 ? "" : ` x ${line.price_per_mille / 10}%`}, card{" "}
            {line.card}, {line.segments === 1 ? "1 stretch" : `${count(line.segments)} stretches`}
          </span>
        </span>
        <span className="font-medium whitespace-nowrap tabular-nums">
          {fine(line.cost_micros)} {body.currency}
        </span>
      </button>
      {isOpen && (
        <div className="px-4 pb-3 sm:pl-10">
          <Trace tenant={body.tenant} invoice={body.invoice_id} number={number} />
        </div>
      )}
    </li>
  );
}

function resource(line: Line): string {
  switch (line.kind) {
    case "gpu_milli":
      return "GPUs";
    case "cpu_milli":
      return "cores";
    case "mem_bytes":
      return "memory";
    case "block_bytes":
      return "block storage";
    default:
      return spell(line.kind);
  }
}

interface TraceTerms {
  tenant: string;
  invoice: string;
  number: number;
}

function Trace({ tenant, invoice, number }: TraceTerms) {
  const rows = useRows(["invoices", tenant, "trace", invoice, number], (page) =>
    ask(
      api.GET("/v1/tenants/{tenant}/invoices/{invoice}/lines/{line}", {
        params: { path: { tenant, invoice, line: number }, query: page },
      }),
    ),
  );
  return (
    <RowList
      label={`What line ${number} adds up`}
      rows={rows}
      columns={stretchColumns(tenant)}
      rowId={(row) => `${row.lease_id} ${row.node} ${row.device} ${row.from_ms}`}
      empty={<Empty title="The meter has nothing of that line any more">Correct the invoice.</Empty>}
      heightMax="24rem"
    />
  );
}

function stretchColumns(tenant: string): Column<Stretch>[] {
  return [
    { id: "lease", header: "lease", width: "5rem", cell: (row) => <LeaseLink id={row.lease_id} /> },
    {
      id: "device",
      header: "device",
      width: "minmax(11rem,1fr)",
      cell: (row) => (
        <>
          <NodeLink name={row.node} />
          {row.device === null ? "" : ` GPU ${row.device}`}
        </>
      ),
    },
    {
      id: "held",
      header: "held",
      width: "minmax(8rem,1fr)",
      cell: (row) => amount(row.kind, row.amount),
    },
    { id: "from", header: "from", width: "12.5rem", cell: (row) => moment(row.from_ms) },
    {
      id: "for",
      header: "for",
      width: "7rem",
      align: "right",
      cell: (row) => span(row.to_ms - row.from_ms),
    },
    {
      id: "ms",
      header: "seconds",
      width: "8rem",
      align: "right",
      cell: (row) => ((row.to_ms - row.from_ms) / 1_000).toFixed(3),
    },
    {
      id: "records",
      header: "records",
      width: "9rem",
      align: "right",
      cell: (row) => (
        <>
          <RecordLink tenant={tenant} seq={row.from_seq} /> –{" "}
          <RecordLink tenant={tenant} seq={row.to_seq} />
        </>
      ),
    },
  ];
}

function OtherLines({ body }: { body: Body }) {
  const units = body.unit_lines ?? [];
  const settled = body.settled_lines ?? [];
  if (units.length + settled.length === 0) return null;
  return (
    <Panel title="What apps told, and what projects owe one another">
      <ul className="space-y-1">
        {units.map((line, at) => (
          <li key={`unit ${at}`} className="flex justify-between gap-3">
            <span>
              {line.app} {line.instance_id}: {line.quantity} {line.unit}{" "}
              <span className="text-muted">{line.project ?? "no project"}</span>
            </span>
            <span className="whitespace-nowrap">
              {fine(line.cost_micros)} {body.currency}
            </span>
          </li>
        ))}
        {settled.map((line, at) => (
          <li key={`settled ${at}`} className="flex justify-between gap-3">
            <span>
              {line.project} {line.side} workers of {line.runtime} with {line.with_project}:{" "}
              {line.quantity} {line.unit}
            </span>
            <span className="whitespace-nowrap">
              {fine(line.cost_micros)} {body.currency}
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
