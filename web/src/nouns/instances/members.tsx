// The members of an instance: each a lease and a process, with what may be done to it.
import type { Schemas } from "@/api/client";
import { useMay } from "@/app/may";
import { memberTone } from "@/nouns/runtimes/tones";
import { Age } from "@/parts/age";
import { Badge } from "@/parts/badge";
import { Action } from "@/parts/confirm";
import { DataTable, type Cell } from "@/parts/data-table";
import { JobLink, LeaseLink, PlaceLink } from "@/parts/links";
import { Panel } from "@/parts/panel";
import { Empty, Loaded } from "@/parts/states";
import { spell } from "@/words/amounts";
import { changeMember, useInstanceMembers, type InstancePath } from "./queries";

type Member = Schemas["InstanceMember"];

export function Members({ path, row }: { path: InstancePath; row: Schemas["Instance"] }) {
  const query = useInstanceMembers(path);
  const mayChange = useMay(path.tenant, path.project)("instance_member.change");
  const cells: Cell<Member>[] = [
    {
      header: "member",
      cell: (each) => <span className="whitespace-nowrap">{each.component_key}</span>,
    },
    { header: "role", cell: (each) => each.role },
    { header: "phase", cell: (each) => <Badge word={each.phase} tone={memberTone(each.phase)} /> },
    { header: "version", cell: (each) => each.version },
    {
      header: "whose",
      cell: (each) => (
        <PlaceLink tenant={path.tenant} project={each.source_project ?? path.project} />
      ),
    },
    {
      header: "job",
      cell: (each) => (each.job_id === null ? "-" : <JobLink id={each.job_id} />),
    },
    { header: "lease", cell: (each) => <LeaseLink id={each.lease_id} /> },
    { header: "why", cell: (each) => (each.reason === null ? "-" : spell(each.reason)) },
    { header: "since", align: "right", cell: (each) => <Age ms={each.changed_ms} /> },
  ];
  if (mayChange && row.phase !== "deleting") {
    cells.push({
      header: "what you may do",
      align: "right",
      cell: (each) => <MemberActions path={path} member={each} />,
    });
  }
  return (
    <Panel title="Members" flush>
      <Loaded query={query} isPart>
        {(members) =>
          members.length === 0 ? (
            <Empty title="No members yet" />
          ) : (
            <DataTable
              label="Members"
              cells={cells}
              rows={members}
              rowId={(each) => each.member_id}
            />
          )
        }
      </Loaded>
    </Panel>
  );
}

function MemberActions({ path, member }: { path: InstancePath; member: Member }) {
  const about = { component_key: member.component_key };
  if (member.phase === "draining" || member.phase === "removed") return null;
  return (
    <div className="flex justify-end gap-2">
      <Action
        label="Replace"
        title={`Replace ${member.component_key}?`}
        change={(dryRun) => changeMember(path, { ...about, action: "replace" }, dryRun)}
      >
        <p>Another is begun in its place; the old one goes once that is ready.</p>
      </Action>
      <Action
        label="Drain"
        title={`Drain ${member.component_key}?`}
        change={(dryRun) => changeMember(path, { ...about, action: "drain" }, dryRun)}
      >
        <p>It is to go: when its operator removes it, or its time is over.</p>
      </Action>
    </div>
  );
}
