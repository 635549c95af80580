// The runtimes that a tenant shares between its projects.
import { Link } from "@tanstack/react-router";
import type { Schemas } from "@/api/client";
import { useMay } from "@/app/may";
import { useScope, useTenantNames } from "@/app/scope";
import { Age } from "@/parts/age";
import { Badge } from "@/parts/badge";
import { CommandLine } from "@/parts/copy";
import { DataTable, type Cell } from "@/parts/data-table";
import { PlaceLink } from "@/parts/links";
import { PageHead } from "@/parts/object-page";
import { Empty, Loaded } from "@/parts/states";
import { useRuntimeRows } from "./queries";
import { instanceTone } from "./tones";

type Row = Schemas["SharedRuntimeRow"];

const CELLS: Cell<Row>[] = [
  { header: "runtime", cell: (row) => <RuntimeLink {...row} /> },
  {
    header: "phase",
    cell: (row) => (
      <Badge
        word={row.is_leaving ? "being deleted" : row.phase}
        tone={row.is_leaving ? "warn" : instanceTone(row.phase)}
      />
    ),
  },
  { header: "app", cell: (row) => `${row.app} ${row.version}` },
  { header: "environment", cell: (row) => row.environment },
  {
    header: "owner record",
    cell: (row) => <PlaceLink tenant={row.tenant} project={row.owner_project} />,
  },
  { header: "since", align: "right", cell: (row) => <Age ms={row.created_ms} /> },
];

export function RuntimeLink({ tenant, runtime }: { tenant: string; runtime: string }) {
  return (
    <Link to="/tenants/$tenant/runtimes/$runtime" params={{ tenant, runtime }} className="link">
      {runtime}
    </Link>
  );
}

export function Page() {
  const { scope } = useScope();
  const names = useTenantNames();
  const tenant = scope.tenant ?? names[0] ?? null;
  const query = useRuntimeRows(tenant);
  const isAllowed = useMay(tenant, null)("shared_runtime.create");
  return (
    <>
      <PageHead title={tenant === null ? "Shared runtimes" : `Shared runtimes of ${tenant}`}>
        {tenant !== null && isAllowed && (
          <Link to="/tenants/$tenant/share" params={{ tenant }} className="button button-main">
            Share an app between projects
          </Link>
        )}
      </PageHead>
      {scope.tenant === null && tenant !== null && (
        <p className="mb-3 text-muted">Choose another tenant in the top line to see its own.</p>
      )}
      <div className="space-y-4">
        <div className="panel">
          {tenant === null ? (
            <Empty title="No tenant yet" />
          ) : (
            <Loaded query={query}>
              {(rows) =>
                rows.length === 0 ? (
                  <Empty title="Nothing is shared here yet">
                    A shared runtime is one control plane for several projects: each submits to its
                    own queues, and pays for what it gives.
                  </Empty>
                ) : (
                  <DataTable
                    label="Shared runtimes"
                    cells={CELLS}
                    rows={rows}
                    rowId={(row) => row.runtime_id}
                  />
                )
              }
            </Loaded>
          )}
        </div>
        {tenant !== null && <CommandLine command={`bailiwick shared list --tenant ${tenant}`} />}
      </div>
    </>
  );
}
