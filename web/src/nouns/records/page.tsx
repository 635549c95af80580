// One sealed record: what it says, what it is about, and that it is what the journal has, checked in
// this browser as the page opens.
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { api, ask } from "@/api/client";
import { Age, moment } from "@/parts/age";
import { CopyButton } from "@/parts/copy";
import { EntryLink, JobLink, LeaseLink, NodeLink, PlaceLink } from "@/parts/links";
import { ObjectPage } from "@/parts/object-page";
import { Facts, Panel } from "@/parts/panel";
import { Empty, Failed, Loaded, Skeleton } from "@/parts/states";
import type { JournalRecord } from "@/parts/timeline";
import { count, spell } from "@/words/amounts";
import { useRecordCheck } from "./proving";
import { Verification } from "./verification";

export function Page() {
  const { tenant, seq } = useParams({ strict: false }) as { tenant: string; seq: string };
  const number = /^\d{1,15}$/.test(seq) ? Number(seq) : null;
  const query = useRecord(tenant, number);
  if (number === null) return <Empty title="A record has a number" />;
  return (
    <Loaded query={query}>
      {(record) =>
        record === null ? (
          <Empty title={`${tenant} has no record ${count(number)}`}>
            It is another tenant's, or not written yet.
          </Empty>
        ) : (
          <RecordPage tenant={tenant} record={record} />
        )
      }
    </Loaded>
  );
}

/** A page of the journal that begins at a record's number begins with that record. */
function useRecord(tenant: string, seq: number | null) {
  return useQuery({
    queryKey: ["record", tenant, seq],
    staleTime: Infinity,
    enabled: seq !== null,
    queryFn: async () => {
      const params = { path: { tenant }, query: { cursor: String(seq), limit: 1 } };
      const { items } = await ask(api.GET("/v1/tenants/{tenant}/records", { params }));
      return items[0]?.seq === seq ? items[0] : null;
    },
  });
}

function RecordPage({ tenant, record }: { tenant: string; record: JournalRecord }) {
  const check = useRecordCheck(tenant, record.seq);
  // What was proven is what is shown, as soon as it is.
  const shown = check.data?.record ?? record;
  const about = relationsOf(tenant, shown.body);
  const rows: [string, ReactNode][] = [
    ["kind", spell(shown.kind)],
    ["of", <PlaceLink tenant={shown.tenant} project={shown.project} />],
    ["by", shown.actor],
    [
      "at",
      <>
        {moment(shown.at_ms)} (<Age ms={shown.at_ms} />)
      </>,
    ],
    ["correlation", <code className="font-mono text-xs break-all">{shown.correlation_id}</code>],
    ["hash before", <code className="font-mono text-xs break-all">{shown.prev_hash}</code>],
    [
      "its hash",
      check.data?.recordHash ? (
        <code className="font-mono text-xs break-all">{check.data.recordHash}</code>
      ) : null,
    ],
    ...about,
  ];
  const text = JSON.stringify(shown.body, null, 2);
  const prove = `bailiwick journal proof ${record.seq} --tenant ${tenant}`;
  return (
    <ObjectPage
      noun="record"
      name={count(record.seq)}
      command={prove}
      actions={
        <Link to="/records" className="button">
          The journal
        </Link>
      }
    >
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <div className="min-w-0 space-y-4">
          <Panel title="What it says">
            <Facts rows={rows} />
          </Panel>
          <Panel title="The sealed body" aside={<CopyButton text={text} label="Copy the body" />}>
            <pre tabIndex={0} className="overflow-x-auto font-mono text-xs">
              {text}
            </pre>
          </Panel>
        </div>
        {check.isFetching && check.data === undefined ? (
          <Panel title="Verification">
            <Skeleton lines={5} />
          </Panel>
        ) : check.data !== undefined ? (
          <Verification
            what={`record ${count(record.seq)}`}
            checks={check.data.checks}
            command={`${prove} --out record.proof && bailiwick journal check-proof record.proof --vkey "$VKEY"`}
            again={() => void check.refetch()}
          />
        ) : (
          <Panel title="Verification">
            <Failed error={check.error} retry={() => void check.refetch()} />
          </Panel>
        )}
      </div>
    </ObjectPage>
  );
}

/** What a body names has a page: numbers of leases, entries and jobs, names of nodes and invoices. */
function relationsOf(tenant: string, body: JournalRecord["body"]): [string, ReactNode][] {
  const rows: [string, ReactNode][] = [];
  const number = (name: string) => {
    const value = body[name];
    return typeof value === "number" && value > 0 ? value : null;
  };
  const lease = number("lease_id");
  if (lease !== null) rows.push(["lease", <LeaseLink id={lease} />]);
  const entry = number("entry_id");
  if (entry !== null) rows.push(["queue entry", <EntryLink id={entry} />]);
  const job = number("job_id");
  if (job !== null) rows.push(["job", <JobLink id={job} />]);
  if (typeof body["node"] === "string") rows.push(["node", <NodeLink name={body["node"]} />]);
  const invoice = body["invoice"];
  if (typeof invoice === "string") {
    rows.push([
      "invoice",
      <Link to="/tenants/$tenant/invoices/$invoice" params={{ tenant, invoice }} className="link">
        {invoice}
      </Link>,
    ]);
  }
  return rows;
}
