// One job: what it is, how far it came, why not, what it printed, what it cost.
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import type { Schemas } from "@/api/client";
import { may, useWho } from "@/app/who";
import { Age, Lasted, useNow } from "@/parts/age";
import { Badge } from "@/parts/badge";
import { Action } from "@/parts/confirm";
import { Denial, Waiting } from "@/nouns/queue/why";
import { useEntry } from "@/nouns/queue/queries";
import { LeaseHistory } from "@/nouns/leases/history";
import { EntryLink, LeaseLink, NodeLink, PlaceLink } from "@/parts/links";
import { ObjectPage } from "@/parts/object-page";
import { Facts, Panel } from "@/parts/panel";
import { Loaded } from "@/parts/states";
import { money, span } from "@/words/amounts";
import { askedSentence } from "@/words/sentences";
import { useSentences } from "@/words/server-words";
import { jobTone } from "@/words/tones";
import { Logs } from "./logs";
import { cancelJob, useJob } from "./queries";
import { Shell } from "./shell";

type Job = Schemas["Job"];

export function Page() {
  const { id } = useParams({ strict: false }) as { id: string };
  const query = useJob(Number(id));
  return <Loaded query={query}>{(job) => <JobView job={job} />}</Loaded>;
}

function JobView({ job }: { job: Job }) {
  const self = useWho();
  const isOver = job.ended_ms !== null;
  const mayCancel = !isOver && may(self, "scheduler.queue.cancel", job);
  return (
    <ObjectPage
      noun="job"
      name={job.name ? `${job.name} (${job.job_id})` : String(job.job_id)}
      state={<Badge word={job.phase} tone={jobTone(job.phase)} />}
      command={`bailiwick job show ${job.job_id}`}
      actions={
        mayCancel && (
          <Action
            label="Cancel the job"
            title={`Cancel job ${job.job_id}?`}
            isBad
            change={(dryRun) => cancelJob(job.job_id, dryRun)}
          >
            <p>
              {job.lease_id === null
                ? "It leaves the queue and never runs."
                : "Its processes are told to end, then killed after the grace; its lease is given back."}
            </p>
          </Action>
        )
      }
    >
      {job.entry_id !== null && !isOver && <WaitingFor entryId={job.entry_id} />}
      {job.denied && (
        <Panel title="Why not">
          <Denial denied={job.denied} />
        </Panel>
      )}
      <div className="grid gap-4 lg:grid-cols-2">
        <Panel title="What">
          <Facts rows={whatRows(job)} />
        </Panel>
        <Panel title="How it went">
          <Facts rows={howRows(job)} />
        </Panel>
      </div>
      {job.started_ms !== null && <Output job={job} />}
      {job.phase === "running" && <Shell job={job} />}
      {job.lease_id !== null && <LeaseHistory leaseId={job.lease_id} />}
    </ObjectPage>
  );
}

function WaitingFor({ entryId }: { entryId: number }) {
  const query = useEntry(entryId);
  const now = useNow();
  return query.data ? (
    <Panel title="What it waits for" aside={<EntryLink id={entryId} />}>
      <Waiting entry={query.data} now={now} />
    </Panel>
  ) : null;
}

function Output({ job }: { job: Job }) {
  const [member, setMember] = useState(0);
  const members = job.members ?? [];
  return (
    <Panel
      title="What it printed"
      flush
      aside={
        members.length > 1 && (
          <select
            aria-label="Member"
            className="field w-auto"
            value={member}
            onChange={(event) => setMember(Number(event.target.value))}
          >
            {members.map((each) => (
              <option key={each.rank} value={each.rank}>
                member {each.rank} on {each.node}
              </option>
            ))}
          </select>
        )
      }
    >
      <Logs jobId={job.job_id} member={member} />
    </Panel>
  );
}

function whatRows(job: Job): [string, React.ReactNode][] {
  const asked = job.request;
  const rows: [string, React.ReactNode][] = [
    ["command", <code className="font-mono text-xs break-all">{job.command.join(" ")}</code>],
    ["project", <PlaceLink tenant={job.tenant} project={job.project} />],
    ["submitted by", job.submitter],
  ];
  if (asked) {
    rows.push(["asks for", askedSentence(asked)]);
    rows.push(
      ["priority", `${asked.priority}, ${asked.lease_class}`],
      ["for at most", span(asked.ttl_ms)],
    );
  }
  if (job.image)
    rows.push(["image", <code className="font-mono text-xs break-all">{job.image}</code>]);
  if (job.tag) rows.push(["tag", job.tag]);
  return rows;
}

function Reason({ word }: { word: string }) {
  return useSentences().jobReason(word);
}

function howRows(job: Job): [string, React.ReactNode][] {
  const ended =
    job.exit_code !== null
      ? `exit code ${job.exit_code}`
      : job.signal !== null
        ? `signal ${job.signal}`
        : null;
  return [
    ["submitted", <Age ms={job.submitted_ms} />],
    ["started", job.started_ms === null ? "not yet" : <Age ms={job.started_ms} />],
    ["ran", <Lasted from={job.started_ms} to={job.ended_ms} />],
    [
      "ended",
      job.ended_ms === null ? (
        "not yet"
      ) : (
        <>
          <Age ms={job.ended_ms} /> {ended}
        </>
      ),
    ],
    ["reason", job.reason === null ? null : <Reason word={job.reason} />],
    ["node", <NodeLink name={job.node} />],
    ["lease", <LeaseLink id={job.lease_id} />],
    ["attempt", `${job.attempt ?? 1} of ${(job.retries ?? 0) + 1}`],
    [
      "cost",
      job.cost
        ? `${money(job.cost.cost_micros)} ${job.cost.currency}${job.cost.is_upper_bound ? " at most" : ""}`
        : null,
    ],
  ];
}
