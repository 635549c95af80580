// One invoice: its lines down to the seconds of a device, checked in this browser, to take away.
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { Download, Printer } from "lucide-react";
import { api, ask, type Schemas } from "@/api/client";
import { useMay } from "@/app/may";
import { Verification } from "@/nouns/records/verification";
import { Action } from "@/parts/confirm";
import { DataTable } from "@/parts/data-table";
import { PlaceLink, RecordLink } from "@/parts/links";
import { ObjectPage } from "@/parts/object-page";
import { Story } from "@/parts/story";
import { Badge } from "@/parts/badge";
import { Facts, Figure, Panel } from "@/parts/panel";
import { Failed, Loaded, Skeleton } from "@/parts/states";
import { count, generation, fine } from "@/words/amounts";
import { InvoiceLines } from "./lines";
import { InvoiceLink, periodOf } from "./part";
import { useInvoiceCheck } from "./proving";

type Invoice = Schemas["Invoice"];

export function Page() {
  const { tenant, invoice } = useParams({ strict: false }) as { tenant: string; invoice: string };
  const params = { path: { tenant, invoice } };
  const query = useQuery({
    queryKey: ["invoices", tenant, "one", invoice],
    queryFn: () => ask(api.GET("/v1/tenants/{tenant}/invoices/{invoice}", { params })),
  });
  return <Loaded query={query}>{(found) => <InvoicePage invoice={found} />}</Loaded>;
}

function InvoicePage({ invoice }: { invoice: Invoice }) {
  const { body } = invoice;
  const { tenant, invoice_id: name } = body;
  const may = useMay(tenant, null);
  const mayProve = may("record.prove");
  const check = useInvoiceCheck(invoice, mayProve);
  return (
    <ObjectPage
      noun={body.corrects === null ? "invoice" : "correction"}
      name={name}
      state={<Badge word={invoice.status} tone={invoice.status === "issued" ? "good" : "quiet"} />}
      actions={
        <div className="flex flex-wrap gap-2 print:hidden">
          <Downloads tenant={tenant} invoice={name} />
          {may("invoice.correct") && <Correct tenant={tenant} invoice={name} />}
        </div>
      }
      command={`bailiwick invoice show ${name} --tenant ${tenant}`}
    >
      <div className="grid grid-cols-2 gap-3 lg:grid-cols-4">
        <Figure label="Total" value={fine(body.total_micros)} note={body.currency} />
        <Figure label="Lines" value={count(body.lines.length)} note="each traced to its leases" />
        <Figure label="From records" value={count(body.journal_size)} note="of the journal" />
        <Figure
          label="Corrections"
          value={count(invoice.corrected_by.length)}
          note={invoice.corrected_by.length === 0 ? "none so far" : "see below"}
        />
      </div>
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <div className="min-w-0 space-y-4">
          <Panel title="What it is">
            <Facts
              rows={[
                ["of", <PlaceLink tenant={tenant} project={body.project} />],
                ["period", periodOf(body.from_ms, body.to_ms)],
                [
                  "SHA-256",
                  <code className="font-mono text-xs break-all">{invoice.digest}</code>,
                ],
                [
                  "sealed in",
                  check.data && (
                    <>
                      record <RecordLink tenant={tenant} seq={check.data.seq} />
                    </>
                  ),
                ],
                [
                  "corrects",
                  body.corrects && <InvoiceLink tenant={tenant} invoice={body.corrects} />,
                ],
                [
                  "corrected by",
                  invoice.corrected_by.length === 0
                    ? null
                    : invoice.corrected_by.map((each) => (
                        <InvoiceLink key={each} tenant={tenant} invoice={each} />
                      )),
                ],
              ]}
            />
          </Panel>
          <Sums body={body} />
        </div>
        {!mayProve ? null : check.data !== undefined ? (
          <Verification
            what={`invoice ${name}`}
            checks={check.data.checks}
            command="bailiwick invoice recompute journal.jsonl"
            again={() => void check.refetch()}
          />
        ) : (
          <Panel title="Verification">
            {check.isError ? (
              <Failed error={check.error} retry={() => void check.refetch()} />
            ) : (
              <Skeleton lines={5} />
            )}
          </Panel>
        )}
      </div>
      <InvoiceLines body={body} />
      <Story of={{ subject: "invoice", name: body.invoice_id, tenant: body.tenant }} />
    </ObjectPage>
  );
}

function Sums({ body }: { body: Invoice["body"] }) {
  const amount = { align: "right" as const, header: body.currency };
  return (
    <Panel title="By project and by generation" flush>
      <DataTable
        label="By project"
        rows={body.by_project}
        rowId={(row) => row.project ?? ""}
        cells={[
          {
            header: "project",
            cell: (row) => <PlaceLink tenant={body.tenant} project={row.project} />,
          },
          { ...amount, cell: (row) => fine(row.cost_micros) },
        ]}
      />
      <DataTable
        label="By generation"
        rows={body.by_generation}
        rowId={(row) => row.generation ?? ""}
        cells={[
          {
            header: "generation",
            cell: (row) => (row.generation === null ? "no GPU" : generation(row.generation)),
          },
          { ...amount, cell: (row) => fine(row.cost_micros) },
        ]}
      />
    </Panel>
  );
}

/** The server's own files, byte for byte those of the command line. */
function Downloads({ tenant, invoice }: { tenant: string; invoice: string }) {
  const base = `/v1/tenants/${encodeURIComponent(tenant)}/invoices/${encodeURIComponent(invoice)}/export`;
  return (
    <>
      <a className="button" href={`${base}?format=csv`} download>
        <Download size={15} aria-hidden /> CSV
      </a>
      <a className="button" href={`${base}?format=focus`} download>
        <Download size={15} aria-hidden /> FOCUS
      </a>
      <button type="button" className="button" onClick={() => window.print()}>
        <Printer size={15} aria-hidden /> Print or PDF
      </button>
    </>
  );
}

function Correct({ tenant, invoice }: { tenant: string; invoice: string }) {
  const change = (dryRun: boolean) =>
    ask(
      api.POST("/v1/tenants/{tenant}/invoices/{invoice}/corrections", {
        params: { path: { tenant, invoice }, query: { dry_run: String(dryRun) } },
      }),
    );
  return (
    <Action label="Correct it" title={`Correct ${invoice}`} change={change}>
      It is computed again from what the journal says now. If that is something else, the difference
      is issued as a correction; the invoice itself never changes.
    </Action>
  );
}
