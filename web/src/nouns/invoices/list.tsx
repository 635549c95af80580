// All invoices of a tenant; whoever may issues one, and sees first what it would say.
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { api, ask, type Schemas } from "@/api/client";
import { useRows } from "@/api/rows";
import { useMay } from "@/app/may";
import { CommandLine } from "@/parts/copy";
import { FormAction } from "@/parts/form-action";
import { Labelled } from "@/parts/labelled";
import { PlaceLink } from "@/parts/links";
import { PageHead } from "@/parts/object-page";
import { RowList } from "@/parts/row-list";
import { Empty } from "@/parts/states";
import type { Column } from "@/parts/table";
import { count, fine } from "@/words/amounts";
import { InvoiceLink, periodOf } from "./part";

type Head = Schemas["InvoiceHead"];

const COLUMNS: Column<Head>[] = [
  {
    id: "invoice",
    header: "invoice",
    width: "minmax(16rem,1fr)",
    cell: (row) => <InvoiceLink tenant={row.tenant} invoice={row.invoice_id} />,
  },
  {
    id: "of",
    header: "of",
    width: "minmax(10rem,1fr)",
    cell: (row) => <PlaceLink tenant={row.tenant} project={row.project} />,
  },
  {
    id: "period",
    header: "period",
    width: "minmax(20rem,1fr)",
    cell: (row) => periodOf(row.from_ms, row.to_ms),
  },
  { id: "lines", header: "lines", width: "5rem", align: "right", cell: (row) => count(row.lines) },
  {
    id: "total",
    header: "total",
    width: "10rem",
    align: "right",
    cell: (row) => `${fine(row.total_micros)} ${row.currency}`,
  },
  {
    id: "corrects",
    header: "corrects",
    width: "minmax(14rem,1fr)",
    cell: (row) =>
      row.corrects === null ? "-" : <InvoiceLink tenant={row.tenant} invoice={row.corrects} />,
  },
];

export function Page() {
  const { tenant } = useParams({ strict: false }) as { tenant: string };
  const may = useMay(tenant, null);
  const rows = useRows(
    ["invoices", tenant],
    (page) =>
      ask(
        api.GET("/v1/tenants/{tenant}/invoices", { params: { path: { tenant }, query: page } }),
      ),
    { limit: 50 },
  );
  return (
    <>
      <PageHead title={`Invoices of ${tenant}`}>
        {may("invoice.issue") && <Issue tenant={tenant} />}
      </PageHead>
      <RowList
        label={`Invoices of ${tenant}`}
        rows={rows}
        columns={COLUMNS}
        rowId={(row) => row.invoice_id}
        empty={
          <Empty title="No invoice was issued yet">
            One is of a period that is over, and built from the journal alone.
          </Empty>
        }
      />
      <div className="mt-4">
        <CommandLine command={`bailiwick invoice list --tenant ${tenant}`} />
      </div>
    </>
  );
}

/** A time as a person types it, in UTC, as a number; null while it is none. */
function utcMs(text: string): number | null {
  const found = Date.parse(`${text}:00Z`);
  return Number.isNaN(found) ? null : found;
}

function lastMonth(): [string, string] {
  const now = new Date();
  const at = (months: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 1))
      .toISOString()
      .slice(0, 16);
  return [at(-1), at(0)];
}

function Issue({ tenant }: { tenant: string }) {
  const [[since, until], setPeriod] = useState(lastMonth);
  const [told, setTold] = useState<Schemas["Invoice"] | null>(null);
  const [from, to] = [utcMs(since), utcMs(until)];
  const body = from === null || to === null ? null : { from_ms: from, to_ms: to };
  async function change(wanted: { from_ms: number; to_ms: number }, dryRun: boolean) {
    const params = { path: { tenant }, query: { dry_run: String(dryRun) } };
    const found = await ask(
      api.POST("/v1/tenants/{tenant}/invoices", { params, body: { project: null, ...wanted } }),
    );
    if (dryRun) setTold(found);
    return found;
  }
  return (
    <FormAction
      label="Issue an invoice"
      title={`Issue an invoice of ${tenant}`}
      body={body}
      change={change}
      isMain
    >
      <p>
        What {tenant} owes for a period that is over. It is sealed in the journal, and never changes
        again; what is known later is a correction.
      </p>
      <div className="grid gap-3 sm:grid-cols-2">
        <Labelled label="From (UTC)">
          {(ids) => (
            <input
              {...ids}
              type="datetime-local"
              className="field"
              value={since}
              onChange={(event) => setPeriod([event.target.value, until])}
            />
          )}
        </Labelled>
        <Labelled label="To (UTC), not in it">
          {(ids) => (
            <input
              {...ids}
              type="datetime-local"
              className="field"
              value={until}
              onChange={(event) => setPeriod([since, event.target.value])}
            />
          )}
        </Labelled>
      </div>
      {told !== null && told.body.from_ms === from && told.body.to_ms === to && (
        <p className="rounded-md bg-raised px-3 py-2">
          It would come to{" "}
          <strong>
            {fine(told.body.total_micros)} {told.body.currency}
          </strong>{" "}
          in {count(told.body.lines.length)} lines, from {count(told.body.journal_size)} records.
        </p>
      )}
    </FormAction>
  );
}
