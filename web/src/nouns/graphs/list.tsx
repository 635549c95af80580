// All graphs that one may see, newest first.
import { Link } from "@tanstack/react-router";
import type { Schemas } from "@/api/client";
import { useScope } from "@/app/scope";
import { Age } from "@/parts/age";
import { Badge } from "@/parts/badge";
import { CommandLine } from "@/parts/copy";
import { PlaceLink } from "@/parts/links";
import { PageHead } from "@/parts/object-page";
import { RowList } from "@/parts/row-list";
import { Empty } from "@/parts/states";
import type { Column } from "@/parts/table";
import { countsSentence, graphTone, PHASES } from "./phases";
import { useGraphs } from "./queries";

type Graph = Schemas["Graph"];

const COLUMNS: Column<Graph>[] = [
  {
    id: "graph",
    header: "graph",
    width: "minmax(9rem,1fr)",
    cell: (row) => (
      <Link to="/graphs/$id" params={{ id: String(row.graph_id) }} className="link">
        {row.name ? `${row.name} (${row.graph_id})` : row.graph_id}
      </Link>
    ),
  },
  {
    id: "phase",
    header: "phase",
    width: "7rem",
    cell: (row) => <Badge word={row.phase} tone={graphTone(row.phase)} />,
  },
  { id: "tasks", header: "tasks", width: "5rem", align: "right", cell: (row) => row.tasks },
  {
    id: "counts",
    header: "of which",
    width: "minmax(14rem,2fr)",
    cell: (row) =>
      countsSentence(
        PHASES.flatMap((phase) => {
          const many = row.counts[phase] ?? 0;
          return many === 0 ? [] : [[phase, many] as [typeof phase, number]];
        }),
      ),
  },
  {
    id: "place",
    header: "project",
    width: "minmax(9rem,1fr)",
    cell: (row) => <PlaceLink tenant={row.tenant} project={row.project} />,
  },
  { id: "who", header: "by", width: "8rem", cell: (row) => row.submitter },
  {
    id: "submitted",
    header: "submitted",
    width: "7rem",
    align: "right",
    cell: (row) => <Age ms={row.submitted_ms} />,
  },
];

export function Page() {
  const { scope } = useScope();
  const rows = useGraphs();
  const isHere = (row: Graph) =>
    (scope.tenant === null || row.tenant === scope.tenant) &&
    (scope.project === null || row.project === scope.project);
  return (
    <>
      <PageHead title="Graphs" />
      <div className="space-y-4">
        <RowList
          label="Graphs"
          rows={rows}
          columns={COLUMNS}
          rowId={(row) => row.graph_id}
          keep={isHere}
          empty={
            <Empty title="No graphs here">
              <code className="font-mono text-xs">bailiwick graph run nightly.yaml</code> submits one.
            </Empty>
          }
        />
        <CommandLine command="bailiwick graph list" />
      </div>
    </>
  );
}
