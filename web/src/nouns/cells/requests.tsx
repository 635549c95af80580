// Requests to all cells that are not over: where each is, and its leases there.
import { useMemo } from "react";
import { Age } from "@/parts/age";
import { Badge } from "@/parts/badge";
import { PlaceLink } from "@/parts/links";
import { RowList } from "@/parts/row-list";
import { Empty } from "@/parts/states";
import type { Column } from "@/parts/table";
import { spell } from "@/words/amounts";
import { priorityTone } from "@/words/tones";
import { askedWords } from "./asked";
import { CellLink } from "./link";
import { useGlobalRequests, type GlobalRequest } from "./queries";
import { statusTone } from "./tones";

const COLUMNS: Column<GlobalRequest>[] = [
  { id: "request", header: "request", width: "5.5rem", cell: (row) => row.global_id },
  {
    id: "for",
    header: "for",
    width: "minmax(8rem,1fr)",
    cell: (row) => <PlaceLink tenant={row.tenant} project={row.project} />,
  },
  {
    id: "status",
    header: "status",
    width: "6.5rem",
    cell: (row) => <Badge word={row.status} tone={statusTone(row.status)} />,
  },
  {
    id: "cell",
    header: "cell",
    width: "minmax(6rem,1fr)",
    cell: (row) => (row.cell === null ? "-" : <CellLink cell={row.cell} />),
  },
  {
    id: "leases",
    header: "leases there",
    width: "7rem",
    cell: (row) => <span title={row.leases.join(", ")}>{row.leases.join(", ") || "-"}</span>,
  },
  {
    id: "asks",
    header: "asks for",
    width: "minmax(15rem,2fr)",
    cell: (row) => <span title={askedWords(row)}>{askedWords(row)}</span>,
  },
  {
    id: "priority",
    header: "priority",
    width: "5.5rem",
    cell: (row) => <Badge word={row.priority} tone={priorityTone(row.priority)} />,
  },
  {
    id: "waits",
    header: "waits for",
    width: "minmax(8rem,1fr)",
    cell: (row) => (row.waits_for === null ? "-" : spell(row.waits_for)),
  },
  {
    id: "asked",
    header: "asked",
    width: "7rem",
    align: "right",
    cell: (row) => <Age ms={row.asked_ms} />,
  },
];

/** All of them, or those that one cell has. */
export function GlobalRequests({ cell }: { cell: string | null }) {
  const rows = useGlobalRequests();
  const keep = useMemo(
    () => (row: GlobalRequest) => cell === null || row.cell === cell,
    [cell],
  );
  const title = cell === null ? "Requests to all cells" : "Requests that it has";
  return (
    <section aria-label={title} className="space-y-2">
      <h2 className="font-semibold">{title}</h2>
      <RowList
        label={title}
        rows={rows}
        columns={COLUMNS}
        rowId={(row) => row.global_id}
        keep={keep}
        empty={
          <Empty title={cell === null ? "Nothing is asked of all cells" : "It has none"}>
            {cell === null && <code className="font-mono text-xs">bailiwick cell ask</code>}
          </Empty>
        }
        heightMax="30rem"
      />
    </section>
  );
}
