// When machines are maintained: windows that are planned or on, and the calendars they come by.
import { Link } from "@tanstack/react-router";
import { may, useWho } from "@/app/who";
import { Age } from "@/parts/age";
import { Badge } from "@/parts/badge";
import { Action } from "@/parts/confirm";
import { CommandLine } from "@/parts/copy";
import { DataTable, type Cell } from "@/parts/data-table";
import { PageHead } from "@/parts/object-page";
import { Panel } from "@/parts/panel";
import { Empty, Failed, Loaded, Skeleton } from "@/parts/states";
import { VirtualTable, type Column } from "@/parts/table";
import { When, WHEN_WIDTH } from "@/parts/when";
import { count, span } from "@/words/amounts";
import {
  useAllWindows,
  useCalendars,
  withdrawCalendar,
  type Calendar,
  type Window,
} from "./queries";
import { windowTone } from "./tones";

const COLUMNS: Column<Window>[] = [
  {
    id: "window",
    header: "window",
    width: "minmax(9rem,1fr)",
    cell: (row) => (
      <Link to="/maintenance/$window" params={{ window: row.window }} className="link">
        {row.window}
      </Link>
    ),
  },
  {
    id: "phase",
    header: "phase",
    width: "6rem",
    cell: (row) => <Badge word={row.phase} tone={windowTone(row.phase)} />,
  },
  { id: "begins", header: "begins", width: "7.5rem", cell: (row) => <Age ms={row.starts_ms} /> },
  {
    id: "from",
    header: "from",
    width: WHEN_WIDTH,
    cell: (row) => <When ms={row.starts_ms} isBare />,
  },
  {
    id: "until",
    header: "until",
    width: WHEN_WIDTH,
    cell: (row) => <When ms={row.ends_ms} isBare />,
  },
  {
    id: "nodes",
    header: "nodes",
    width: "4.5rem",
    align: "right",
    cell: (row) => count(row.nodes.length),
  },
  {
    id: "late",
    header: "not empty yet",
    width: "7rem",
    align: "right",
    cell: (row) => (row.late.length > 0 ? count(row.late.length) : "-"),
  },
  {
    id: "text",
    header: "text",
    width: "minmax(12rem,2fr)",
    cell: (row) => <span title={row.text}>{row.text || "-"}</span>,
  },
];

export function Page() {
  const query = useAllWindows();
  return (
    <>
      <PageHead title="Maintenance" />
      <div className="space-y-4">
        <Loaded query={query} lines={6}>
          {({ rows, isCut }) => (
            <div className="panel">
              {rows.length === 0 ? (
                <Empty title="No maintenance is planned">
                  Nodes are closed, emptied and opened again by windows that are announced before.
                </Empty>
              ) : (
                <VirtualTable
                  label="Windows of maintenance"
                  columns={COLUMNS}
                  rows={rows}
                  rowId={(row) => row.window}
                  heightMax="24rem"
                />
              )}
              {isCut && (
                <p className="border-t border-line px-4 py-2 text-xs text-muted">
                  There are more: <code className="font-mono">bailiwick maintenance list</code>
                </p>
              )}
            </div>
          )}
        </Loaded>
        <Calendars />
        <CommandLine command="bailiwick maintenance list" />
      </div>
    </>
  );
}

function Calendars() {
  const self = useWho();
  const { query, rows } = useCalendars();
  const mayOperate = may(self, "scheduler.node.operate");
  const cells: Cell<Calendar>[] = [
    { header: "calendar", cell: (row) => row.calendar },
    { header: "rule", cell: (row) => row.rule },
    { header: "for", cell: nodesOf },
    { header: "nodes closed", cell: (row) => `${span(row.lead_ms ?? 0)} before` },
    { header: "announced ahead", cell: (row) => `${row.ahead_days}d` },
    { header: "text", cell: (row) => row.text || "-" },
  ];
  if (mayOperate)
    cells.push({ header: "change", align: "right", cell: (row) => <Withdraw {...row} /> });
  return (
    <Panel title="Calendars" flush>
      {query.isPending && (
        <div className="p-4">
          <Skeleton lines={2} />
        </div>
      )}
      {query.isError && <Failed error={query.error} retry={() => void query.refetch()} />}
      {query.isSuccess && rows.length === 0 && (
        <Empty title="No calendar">Windows are planned by hand alone.</Empty>
      )}
      {rows.length > 0 && (
        <DataTable label="Calendars" cells={cells} rows={rows} rowId={(row) => row.calendar} />
      )}
      {query.hasNextPage && (
        <p className="border-t border-line px-4 py-2">
          <button type="button" className="link" onClick={() => void query.fetchNextPage()}>
            More
          </button>
        </p>
      )}
    </Panel>
  );
}

function nodesOf(row: Calendar): string {
  return (row.labels ?? []).join(", ") || `${count((row.nodes ?? []).length)} by name`;
}

function Withdraw({ calendar }: Calendar) {
  return (
    <Action
      label="Withdraw it"
      title={`Withdraw ${calendar}?`}
      isBad
      change={(dryRun) => withdrawCalendar(calendar, dryRun)}
    >
      <p>Nothing is planned by it any more. What is ahead by it is off, and what is on goes on.</p>
    </Action>
  );
}
