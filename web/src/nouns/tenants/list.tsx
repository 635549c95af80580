// The tenants that a person may see.
import { Link } from "@tanstack/react-router";
import type { Schemas } from "@/api/client";
import { useTenants } from "@/app/scope";
import { Badge } from "@/parts/badge";
import { PageHead } from "@/parts/object-page";
import { Empty, Loaded } from "@/parts/states";
import { VirtualTable, type Column } from "@/parts/table";

const COLUMNS: Column<Schemas["Tenant"]>[] = [
  {
    id: "tenant",
    header: "tenant",
    width: "minmax(10rem,1fr)",
    cell: ({ tenant }) => (
      <Link to="/tenants/$tenant" params={{ tenant }} className="link">
        {tenant}
      </Link>
    ),
  },
  { id: "name", header: "name", width: "minmax(14rem,3fr)", cell: (row) => row.display_name },
  {
    id: "open",
    header: "state",
    width: "7rem",
    cell: (row) => (
      <Badge word={row.is_open ? "open" : "closed"} tone={row.is_open ? "good" : "quiet"} />
    ),
  },
];

export function Page() {
  const query = useTenants();
  return (
    <>
      <PageHead title="Tenants" />
      <Loaded query={query} lines={6}>
        {(tenants) => (
          <div className="panel">
            {tenants.length === 0 ? (
              <Empty title="No tenant that you may see">
                Ask whoever administers yours for a role.
              </Empty>
            ) : (
              <VirtualTable
                label="Tenants"
                columns={COLUMNS}
                rows={tenants}
                rowId={(row) => row.tenant}
              />
            )}
          </div>
        )}
      </Loaded>
    </>
  );
}
