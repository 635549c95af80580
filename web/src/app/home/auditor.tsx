// An auditor's home: whose journal and invoices there are to read and to verify, and what does not
// agree.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api, ask } from "@/api/client";
import { useTenants } from "@/app/scope";
import { FINDING_COLUMNS } from "@/nouns/security/findings";
import { useFindings } from "@/nouns/security/queries";
import { Age } from "@/parts/age";
import { CommandLine } from "@/parts/copy";
import { DataTable } from "@/parts/data-table";
import { PlaceLink } from "@/parts/links";
import { PageHead } from "@/parts/object-page";
import { Figure, Panel } from "@/parts/panel";
import { RowList } from "@/parts/row-list";
import { Empty, Loaded } from "@/parts/states";
import { readPin } from "@/proof/pin";
import { count } from "@/words/amounts";

export default function AuditorHome() {
  const tenants = useTenants();
  const findings = useFindings(null);
  const replica = useQuery({
    queryKey: ["records", "replica"],
    queryFn: () => ask(api.GET("/v1/replica")),
  });
  const pin = readPin(localStorage);
  return (
    <>
      <PageHead title="Audit" />
      <div className="mb-4 grid grid-cols-2 gap-3 lg:grid-cols-4">
        <Figure label="Records" value={count(replica.data?.size ?? 0)} note="in the journal" />
        <Figure
          label="Last verified here"
          value={pin?.seen ? count(pin.seen.size) : "none"}
          note={pin?.seen ? <Age ms={pin.seen.seenMs} /> : "open a record to verify it"}
        />
        <Figure
          label="The journal's key"
          value={pin === null ? "none" : pin.source === "given" ? "given" : "first seen"}
          note={pin === null ? "not seen yet" : <Age ms={pin.pinnedMs} />}
        />
        <Figure
          label="Findings"
          value={`${count(findings.rows.length)}${findings.query.hasNextPage ? "+" : ""}`}
          note={
            <Link to="/findings" className="link">
              see them
            </Link>
          }
        />
      </div>
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <Panel title="Journals and invoices" flush aside="choose one above to read its journal">
          <Loaded query={tenants}>
            {(rows) => (
              <DataTable
                label="Tenants"
                rows={rows}
                rowId={(row) => row.tenant}
                cells={[
                  {
                    header: "tenant",
                    cell: (row) => <PlaceLink tenant={row.tenant} project={null} />,
                  },
                  { header: "name", cell: (row) => row.display_name || "-" },
                  {
                    header: "invoices",
                    cell: (row) => (
                      <Link
                        to="/tenants/$tenant/invoices"
                        params={{ tenant: row.tenant }}
                        className="link"
                        aria-label={`Invoices of ${row.tenant}`}
                      >
                        invoices
                      </Link>
                    ),
                  },
                ]}
              />
            )}
          </Loaded>
        </Panel>
        <section aria-label="Newest findings" className="min-w-0 space-y-2">
          <h2 className="font-semibold">Newest findings</h2>
          <RowList
            label="Findings"
            rows={findings}
            columns={FINDING_COLUMNS}
            rowId={(row) => row.seq}
            empty={
              <Empty title="Nothing disagrees">What nodes counted is what the journal says.</Empty>
            }
            heightMax="22rem"
          />
        </section>
      </div>
      <div className="mt-4">
        <h2 className="mb-1 text-xs text-muted">Check the whole journal yourself, offline</h2>
        <CommandLine command="bailiwick journal verify" />
      </div>
    </>
  );
}
