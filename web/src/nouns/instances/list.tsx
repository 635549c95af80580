// The instances of the project that one works in.
import { Link } from "@tanstack/react-router";
import type { Schemas } from "@/api/client";
import { ChooseTenant } from "@/app/choose-tenant";
import { useProjects, useScope, useTenantNames } from "@/app/scope";
import { instanceTone } from "@/nouns/runtimes/tones";
import { Age } from "@/parts/age";
import { Badge } from "@/parts/badge";
import { CommandLine } from "@/parts/copy";
import { PageHead } from "@/parts/object-page";
import { RowList } from "@/parts/row-list";
import { Empty } from "@/parts/states";
import type { Column } from "@/parts/table";
import { spell } from "@/words/amounts";
import { useInstances } from "./queries";

type Instance = Schemas["Instance"];

export function InstanceLink({ row }: { row: Instance }) {
  const params = { tenant: row.tenant, project: row.project, id: String(row.instance_id) };
  return (
    <Link to="/tenants/$tenant/projects/$project/instances/$id" params={params} className="link">
      {row.name} ({row.instance_id})
    </Link>
  );
}

const COLUMNS: Column<Instance>[] = [
  {
    id: "name",
    header: "instance",
    width: "minmax(10rem,1fr)",
    cell: (row) => <InstanceLink row={row} />,
  },
  {
    id: "phase",
    header: "phase",
    width: "8rem",
    cell: (row) => <Badge word={row.phase} tone={instanceTone(row.phase)} />,
  },
  {
    id: "app",
    header: "app",
    width: "minmax(10rem,1fr)",
    cell: (row) => `${row.app} ${row.version}`,
  },
  {
    id: "ready",
    header: "ready",
    width: "minmax(9rem,1fr)",
    cell: (row) =>
      Object.entries(row.counts)
        .map(([role, many]) => `${row.ready[role] ?? 0} of ${many} ${role}`)
        .join(", "),
  },
  {
    id: "conditions",
    header: "out of the ordinary",
    width: "minmax(10rem,1fr)",
    cell: (row) => row.conditions.map(spell).join(", ") || "-",
  },
  {
    id: "since",
    header: "since",
    width: "7rem",
    align: "right",
    cell: (row) => <Age ms={row.created_ms} />,
  },
];

export function Page() {
  const { scope } = useScope();
  const names = useTenantNames();
  const tenant = scope.tenant ?? (names.length === 1 ? (names[0] ?? null) : null);
  const projects = useProjects(tenant).data ?? [];
  const project = (scope.tenant === tenant ? scope.project : null) ?? projects[0]?.project ?? null;
  const rows = useInstances({ tenant, project });
  return (
    <>
      <PageHead title={project === null ? "Instances" : `Instances of ${tenant}/${project}`}>
        <Link to="/apps" className="button button-main">
          Run an app
        </Link>
      </PageHead>
      <div className="space-y-4">
        {tenant === null ? (
          <ChooseTenant>Instances are listed project by project.</ChooseTenant>
        ) : (
          <RowList
            label="Instances"
            rows={rows}
            columns={COLUMNS}
            rowId={(row) => row.instance_id}
            empty={
              <Empty title="No instances here">
                <Link to="/apps" className="link">
                  Choose an app
                </Link>{" "}
                and run it, or choose another project above.
              </Empty>
            }
          />
        )}
        {project !== null && (
          <CommandLine
            command={`bailiwick app instance list --tenant ${tenant} --project ${project}`}
          />
        )}
      </div>
    </>
  );
}
