// The cells of this plane, how it stands with them, and what is asked of all of them.
import { Age } from "@/parts/age";
import { Badge } from "@/parts/badge";
import { CommandLine } from "@/parts/copy";
import { PageHead } from "@/parts/object-page";
import { Empty, Loaded } from "@/parts/states";
import { VirtualTable, type Column } from "@/parts/table";
import { count, milli } from "@/words/amounts";
import { CellLink } from "./link";
import { useCells, type Cell } from "./queries";
import { GlobalRequests } from "./requests";
import { standingTone } from "./tones";

const COLUMNS: Column<Cell>[] = [
  {
    id: "cell",
    header: "cell",
    width: "minmax(8rem,1fr)",
    cell: (row) => <CellLink cell={row.cell} />,
  },
  {
    id: "standing",
    header: "standing",
    width: "7rem",
    cell: (row) => <Badge word={row.standing} tone={standingTone(row.standing)} />,
  },
  {
    id: "heard",
    header: "last reply",
    width: "7rem",
    cell: (row) => (row.heard_ms === null ? "not known" : <Age ms={row.heard_ms} />),
  },
  {
    id: "requests",
    header: "requests",
    width: "5.5rem",
    align: "right",
    cell: (row) => count(row.requests),
  },
  {
    id: "gpus",
    header: "free GPUs",
    width: "6rem",
    align: "right",
    cell: (row) => (row.free_gpu_milli === null ? "-" : milli(row.free_gpu_milli)),
  },
  {
    id: "cores",
    header: "free cores",
    width: "6rem",
    align: "right",
    cell: (row) => (row.free_cpu_milli === null ? "-" : milli(row.free_cpu_milli)),
  },
  {
    id: "trouble",
    header: "trouble",
    width: "minmax(16rem,3fr)",
    cell: (row) => <span title={row.trouble ?? undefined}>{row.trouble ?? "-"}</span>,
  },
];

export function Page() {
  const query = useCells();
  return (
    <>
      <PageHead title="Cells" />
      <Loaded query={query} lines={6}>
        {(cells) => (
          <div className="space-y-4">
            <div className="panel">
              {cells.length === 0 ? (
                <Empty title="This plane has no cell">
                  A cell is a plane of its own that takes requests of this one:{" "}
                  <code className="font-mono text-xs">bailiwick cell join</code>
                </Empty>
              ) : (
                <VirtualTable
                  label="Cells"
                  columns={COLUMNS}
                  rows={cells}
                  rowId={(row) => row.cell}
                  heightMax="24rem"
                />
              )}
            </div>
            <GlobalRequests cell={null} />
            <CommandLine command="bailiwick cell list" />
          </div>
        )}
      </Loaded>
    </>
  );
}
