// What one was told, the newest first; and by which ways one is told of what.
import { Age } from "@/parts/age";
import { CommandLine } from "@/parts/copy";
import { JobLink, LeaseLink, NodeLink, PlaceLink } from "@/parts/links";
import { PageHead } from "@/parts/object-page";
import { RowList } from "@/parts/row-list";
import { Empty, Failed } from "@/parts/states";
import type { Column } from "@/parts/table";
import { useInbox, useReading, useUnread, type Notice } from "./queries";
import { Ways } from "./ways";

const COLUMNS: Column<Notice>[] = [
  {
    id: "what",
    header: "what",
    width: "minmax(16rem,2fr)",
    cell: (row) => (
      <span title={row.text} className={row.read_ms === null ? "font-semibold" : ""}>
        {row.title}
        {row.read_ms === null && <span className="sr-only"> (new)</span>}
      </span>
    ),
  },
  {
    id: "more",
    header: "more",
    width: "minmax(16rem,3fr)",
    cell: (row) => <span title={row.text}>{row.text}</span>,
  },
  { id: "about", header: "about", width: "8rem", cell: (row) => <About facts={row.facts} /> },
  {
    id: "of",
    header: "of",
    width: "minmax(9rem,1fr)",
    cell: (row) => <PlaceLink tenant={row.tenant} project={row.project} />,
  },
  { id: "at", header: "at", width: "7rem", align: "right", cell: (row) => <Age ms={row.at_ms} /> },
];

function About({ facts }: { facts: Notice["facts"] }) {
  const { job_id: job, lease_id: lease, node } = facts;
  if (typeof job === "number") return <JobLink id={job} />;
  if (typeof lease === "number") return <LeaseLink id={lease} />;
  if (typeof node === "string") return <NodeLink name={node} />;
  return <span className="text-muted">-</span>;
}

export function Page() {
  const rows = useInbox();
  const unread = useUnread();
  const reading = useReading();
  return (
    <>
      <PageHead title="Inbox">
        <button
          type="button"
          className="button"
          disabled={unread === 0 || reading.isPending}
          onClick={() => reading.mutate([])}
        >
          Mark all as read
        </button>
      </PageHead>
      {reading.isError && <Failed error={reading.error} />}
      <div className="space-y-4">
        <RowList
          label="What you were told"
          rows={rows}
          columns={COLUMNS}
          rowId={(row) => row.id}
          empty={
            <Empty title="Nothing yet">
              Here you are told when a job of yours ends, and when a lease of yours has to go.
            </Empty>
          }
        />
        <Ways />
        <CommandLine command="bailiwick inbox list" />
      </div>
    </>
  );
}
