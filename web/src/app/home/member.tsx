// A member's home: his jobs, what waits and the one thing that would unblock it, quota and spend.
import { Link } from "@tanstack/react-router";
import { Play } from "lucide-react";
import type { Schemas } from "@/api/client";
import { may, useWho } from "@/app/who";
import { JOB_COLUMNS } from "@/nouns/jobs/columns";
import { useJobs } from "@/nouns/jobs/queries";
import { useQueue } from "@/nouns/queue/queries";
import { Waiting } from "@/nouns/queue/why";
import { QuotaPanel, SpendPanel } from "@/nouns/tenants/money";
import { useNow } from "@/parts/age";
import { EntryLink, JobLink } from "@/parts/links";
import { PageHead } from "@/parts/object-page";
import { Panel } from "@/parts/panel";
import { RowList } from "@/parts/row-list";
import { Empty, Failed, Skeleton } from "@/parts/states";

interface Terms {
  tenant: string;
  project: string | null;
}

export default function MemberHome({ tenant, project }: Terms) {
  const self = useWho();
  const jobs = useJobs({ tenant, project, mine: true });
  const place = { tenant, project };
  return (
    <>
      <PageHead title={project === null ? tenant : `${tenant} / ${project}`}>
        {may(self, "scheduler.queue.submit", place) && (
          <Link to="/run" className="button button-main">
            <Play size={15} aria-hidden /> Run something
          </Link>
        )}
      </PageHead>
      <div className="grid gap-4 lg:grid-cols-3">
        <div className="min-w-0 space-y-4 lg:col-span-2">
          <Stuck tenant={tenant} project={project} />
          <section aria-label="My jobs" className="space-y-2">
            <h2 className="font-semibold">My jobs</h2>
            <RowList
              label="My jobs"
              rows={jobs}
              columns={JOB_COLUMNS.filter((column) => column.id !== "place")}
              rowId={(job) => job.job_id}
              empty={
                <Empty title="You have run nothing here yet">
                  <Link to="/run" className="link">
                    Run something
                  </Link>{" "}
                  and it is listed here.
                </Empty>
              }
              heightMax="26rem"
            />
          </section>
        </div>
        <div className="space-y-4">
          {may(self, "scheduler.quota.read", place) && <QuotaPanel {...place} />}
          {may(self, "metering.usage.read", place) && <SpendPanel {...place} />}
        </div>
      </div>
    </>
  );
}

const STUCK_MAX = 5;

function Stuck({ tenant, project }: Terms) {
  const { query, rows } = useQueue();
  const now = useNow();
  const mine = rows.filter(
    (row) => row.tenant === tenant && (project === null || row.project === project),
  );
  return (
    <Panel
      title="What waits, and what would unblock it"
      aside={mine.length > 0 && `${mine.length} waiting`}
    >
      {query.isPending && <Skeleton lines={2} />}
      {query.isError && <Failed error={query.error} />}
      {query.isSuccess && mine.length === 0 && <p className="text-muted">Nothing waits.</p>}
      <ul className="divide-y divide-line">
        {mine.slice(0, STUCK_MAX).map((entry) => (
          <li key={entry.entry_id} className="py-2 first:pt-0 last:pb-0">
            <p className="mb-1 text-xs text-muted">{titleOf(entry)}</p>
            <Waiting entry={entry} now={now} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function titleOf(entry: Schemas["QueueEntry"]) {
  return entry.job_id ? (
    <>
      job <JobLink id={entry.job_id} />, queue entry <EntryLink id={entry.entry_id} />
    </>
  ) : (
    <>
      queue entry <EntryLink id={entry.entry_id} />
    </>
  );
}
