// Invoices of a tenant as a short list, for pages about money and for auditors.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api, ask, type Schemas } from "@/api/client";
import { DataTable } from "@/parts/data-table";
import { PlaceLink } from "@/parts/links";
import { Panel } from "@/parts/panel";
import { Empty, Loaded } from "@/parts/states";
import { count, fine } from "@/words/amounts";

export function periodOf(fromMs: number, toMs: number): string {
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 16).replace("T", " ");
  return `${day(fromMs)} to ${day(toMs)} UTC`;
}

export function InvoiceLink({ tenant, invoice }: { tenant: string; invoice: string }) {
  return (
    <Link
      to="/tenants/$tenant/invoices/$invoice"
      params={{ tenant, invoice }}
      className="link whitespace-nowrap"
    >
      {invoice}
    </Link>
  );
}

export function InvoiceList({ tenant }: { tenant: string }) {
  const query = useQuery({
    queryKey: ["invoices", tenant],
    queryFn: async () => {
      const params = { path: { tenant }, query: { limit: 10 } };
      return (await ask(api.GET("/v1/tenants/{tenant}/invoices", { params }))).items;
    },
  });
  return (
    <Panel
      title="Newest invoices"
      flush
      aside={
        <Link to="/tenants/$tenant/invoices" params={{ tenant }} className="link">
          all invoices
        </Link>
      }
    >
      <Loaded query={query}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="No invoice was issued yet" />
          ) : (
            <DataTable label="Invoices" rows={rows} rowId={(row) => row.invoice_id} cells={CELLS} />
          )
        }
      </Loaded>
    </Panel>
  );
}

type Head = Schemas["InvoiceHead"];

const CELLS = [
  {
    header: "invoice",
    cell: (row: Head) => <InvoiceLink tenant={row.tenant} invoice={row.invoice_id} />,
  },
  { header: "of", cell: (row: Head) => <PlaceLink tenant={row.tenant} project={row.project} /> },
  {
    header: "period",
    cell: (row: Head) => (
      <span className="whitespace-nowrap">{periodOf(row.from_ms, row.to_ms)}</span>
    ),
  },
  { header: "lines", align: "right" as const, cell: (row: Head) => count(row.lines) },
  {
    header: "total",
    align: "right" as const,
    cell: (row: Head) => (
      <span className="whitespace-nowrap">
        {fine(row.total_micros)} {row.currency}
      </span>
    ),
  },
];
