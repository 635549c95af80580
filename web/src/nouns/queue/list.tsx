// Everything that waits, in the order of the line, each with the one thing that would unblock it.
import type { Schemas } from "@/api/client";
import { useScope } from "@/app/scope";
import { Age } from "@/parts/age";
import { Badge } from "@/parts/badge";
import { EntryLink, JobLink, PlaceLink } from "@/parts/links";
import { PageHead } from "@/parts/object-page";
import { RowList } from "@/parts/row-list";
import { Empty } from "@/parts/states";
import type { Column } from "@/parts/table";
import { amount, generation } from "@/words/amounts";
import { useSentences } from "@/words/server-words";
import { priorityTone, reasonTone } from "@/words/tones";
import { useQueue } from "./queries";

type Entry = Schemas["QueueEntry"];

function asks(entry: Entry): string {
  const asked = entry.request;
  if (!asked) return "";
  if (asked.gpu_count > 0) return `${asked.gpu_count} x ${generation(asked.gpu_generation)}`;
  return amount("cpu_milli", asked.cpu_milli);
}

function Remedy({ remedy }: { remedy: Schemas["Remedy"] }) {
  return useSentences().remedy(remedy);
}

export const QUEUE_COLUMNS: Column<Entry>[] = [
  {
    id: "position",
    header: "line",
    width: "4rem",
    align: "right",
    cell: (entry) => entry.position,
  },
  {
    id: "entry",
    header: "entry",
    width: "5rem",
    cell: (entry) => <EntryLink id={entry.entry_id} />,
  },
  {
    id: "job",
    header: "job",
    width: "5rem",
    cell: (entry) => (entry.job_id ? <JobLink id={entry.job_id} /> : ""),
  },
  {
    id: "place",
    header: "project",
    width: "minmax(10rem,1fr)",
    cell: (entry) => <PlaceLink tenant={entry.tenant} project={entry.project} />,
  },
  { id: "asks", header: "asks for", width: "minmax(9rem,1fr)", cell: asks },
  {
    id: "priority",
    header: "priority",
    width: "6rem",
    cell: (entry) =>
      entry.request && (
        <Badge word={entry.request.priority} tone={priorityTone(entry.request.priority)} />
      ),
  },
  {
    id: "reason",
    header: "waits because",
    width: "11rem",
    cell: (entry) => <Badge word={entry.reason} tone={reasonTone(entry.reason)} />,
  },
  {
    id: "remedy",
    header: "what would unblock it",
    width: "minmax(16rem,2fr)",
    cell: (entry) => <Remedy remedy={entry.remedy} />,
  },
  {
    id: "since",
    header: "waits since",
    width: "7rem",
    align: "right",
    cell: (entry) => <Age ms={entry.submitted_ms} />,
  },
];

export function Page() {
  const rows = useQueue();
  const { scope } = useScope();
  const keep = (entry: Entry) =>
    (scope.tenant === null || entry.tenant === scope.tenant) &&
    (scope.project === null || entry.project === scope.project);
  return (
    <>
      <PageHead title="Queue" />
      <RowList
        label="Requests that wait"
        rows={rows}
        columns={QUEUE_COLUMNS}
        rowId={(entry) => entry.entry_id}
        keep={keep}
        empty={
          <Empty title="Nothing waits">
            Every request that was made here got what it asked for.
          </Empty>
        }
      />
    </>
  );
}
