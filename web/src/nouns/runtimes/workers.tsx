// Whose workers it has: what the owner record reserves, what projects gave, and where each runs.
import { useState } from "react";
import type { Schemas } from "@/api/client";
import { hasOwnRole, useMay } from "@/app/may";
import { useWho } from "@/app/who";
import { useVersion } from "@/nouns/apps/queries";
import { useInstanceMembers } from "@/nouns/instances/queries";
import { Age } from "@/parts/age";
import { Badge } from "@/parts/badge";
import { Action } from "@/parts/confirm";
import { DataTable, type Cell } from "@/parts/data-table";
import { FormAction } from "@/parts/form-action";
import { Select, TextField } from "@/parts/labelled";
import { LeaseLink, NodeLink, PlaceLink } from "@/parts/links";
import { Panel } from "@/parts/panel";
import { Empty, Loaded } from "@/parts/states";
import { span, spell } from "@/words/amounts";
import { changeWorker, usePlacements } from "./queries";
import { contributionTone, memberTone } from "./tones";

type View = Schemas["SharedRuntimeView"];
type Worker = Schemas["SharedWorker"];
type Placement = Schemas["SharedPlacement"];

export function Workers({ view }: { view: View }) {
  const { tenant, runtime } = view.runtime;
  const placements = usePlacements({ tenant, runtime });
  const self = useWho();
  const givers = view.attachments
    .filter((each) => each.phase === "attached")
    .map((each) => each.project)
    .filter((project) =>
      hasOwnRole(self, "scheduler.shared_runtime.join", { tenant, project }),
    );
  const contributed = new Map(view.workers.map((each) => [each.component_key, each]));
  const reasons = useReasons(view);
  return (
    <Panel
      title="Controller and workers, and whose allocation each is"
      flush
      aside={givers.length > 0 && <Contribute view={view} givers={givers} />}
    >
      <Loaded query={placements}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="No member that you may see" />
          ) : (
            <DataTable
              label="Controller and workers"
              cells={cellsOf(view, contributed, reasons)}
              rows={rows}
              rowId={(row) => row.member_id}
            />
          )
        }
      </Loaded>
    </Panel>
  );
}

/** Why members failed, for those who may read the instance behind it. */
function useReasons(view: View): Map<number, string> {
  const { tenant, owner_project: project, instance_id } = view.runtime;
  const isOn = useMay(tenant, project)("instance_member.list");
  const { data } = useInstanceMembers({ tenant, project, instance_id }, isOn);
  return new Map((data ?? []).flatMap((row) => (row.reason ? [[row.member_id, row.reason]] : [])));
}

function cellsOf(
  view: View,
  contributed: Map<string, Worker>,
  reasons: Map<number, string>,
): Cell<Placement>[] {
  const { tenant } = view.runtime;
  return [
    {
      header: "member",
      cell: (row) => (
        <span className="whitespace-nowrap">
          {row.component_key} <span className="text-muted">{row.role}</span>
        </span>
      ),
    },
    { header: "phase", cell: (row) => <Badge word={row.phase} tone={memberTone(row.phase)} /> },
    {
      header: "allocation of",
      cell: (row) => (
        <span className="whitespace-nowrap">
          <PlaceLink tenant={tenant} project={row.project} />{" "}
          <Badge
            word={row.is_contributed ? "given" : "reserved"}
            tone={row.is_contributed ? "info" : "quiet"}
          />
        </span>
      ),
    },
    { header: "lease", cell: (row) => <LeaseLink id={row.lease_id} /> },
    { header: "node", cell: (row) => <NodeLink name={row.node} /> },
    { header: "why", cell: (row) => <Why row={row} reason={reasons.get(row.member_id)} /> },
    {
      header: "what you may do",
      align: "right",
      cell: (row) => {
        const worker = contributed.get(row.component_key);
        return worker === undefined ? null : <TakeBack view={view} worker={worker} />;
      },
    },
  ];
}

/** What it waited for, or the record that placed it. */
function Why({ row, reason }: { row: Placement; reason: string | undefined }) {
  const last = row.steps.filter((step) => step.reason !== null).at(-1);
  if (row.placed_seq !== null) {
    return <span className="whitespace-nowrap text-muted">placed by record {row.placed_seq}</span>;
  }
  if (reason !== undefined) return spell(reason);
  if (last === undefined) return <span className="text-muted">-</span>;
  return (
    <span className="whitespace-nowrap">
      {spell(last.reason ?? "")} <span className="text-muted">(record {last.seq})</span>
    </span>
  );
}

function TakeBack({ view, worker }: { view: View; worker: Worker }) {
  const { tenant, runtime, withdraw_within_ms: withinMs } = view.runtime;
  const self = useWho();
  const path = { tenant, runtime, project: worker.project };
  if (worker.phase !== "contributed") {
    return (
      <span className="whitespace-nowrap text-muted">
        <Badge word={worker.phase} tone={contributionTone(worker.phase)} />{" "}
        {worker.deadline_ms !== null && (
          <>
            ends <Age ms={worker.deadline_ms} />
          </>
        )}
      </span>
    );
  }
  if (!hasOwnRole(self, "scheduler.shared_runtime.join", path)) return null;
  const about = { component_key: worker.component_key };
  return (
    <div className="flex justify-end gap-2">
      <Action
        label="Drain"
        title={`Drain ${worker.component_key}?`}
        change={(dryRun) => changeWorker(path, { ...about, action: "drain" }, dryRun)}
      >
        <p>It finishes what it does and then ends, for as long as the app&apos;s manifest lets it.</p>
      </Action>
      <Action
        label="Withdraw"
        title={`Take ${worker.component_key} back?`}
        isBad
        change={(dryRun) => changeWorker(path, { ...about, action: "withdraw" }, dryRun)}
      >
        <p>
          It is {worker.project}&apos;s again within {span(withinMs)}, as was agreed; what runs on it
          then is ended. Nobody has to consent.
        </p>
      </Action>
    </div>
  );
}

function Contribute({ view, givers }: { view: View; givers: string[] }) {
  const { tenant, runtime, app, version } = view.runtime;
  const [project, setProject] = useState(givers[0] ?? "");
  const roles = (useVersion(app, version).data?.read.roles ?? []).filter(
    (each) => !each.isControlPlane,
  );
  const [role, setRole] = useState("");
  const taken = new Set(view.workers.map((each) => each.component_key));
  const free = Array.from({ length: 64 }, (_, at) => `${project}-${at}`).find(
    (name) => !taken.has(name),
  );
  const [typed, setTyped] = useState("");
  const component = typed || (free ?? "");
  const chosen = role || (roles[0]?.role ?? "");
  const body =
    component === "" || chosen === ""
      ? null
      : { action: "contribute" as const, component_key: component, role: chosen };
  return (
    <FormAction
      label="Give a worker"
      title={`Give ${runtime} a worker`}
      body={body === null ? null : { project, body }}
      change={(wanted, dryRun) =>
        changeWorker({ tenant, runtime, project: wanted.project }, wanted.body, dryRun)
      }
      onDone={() => setTyped("")}
      isMain
    >
      <p>
        It stays {project}&apos;s: its lease, its quota, its bill, and yours to take back at any
        time. Nothing of it is paid by anybody else.
      </p>
      <div className="grid gap-3 sm:grid-cols-2">
        <Select
          label="From the allocation of"
          value={project}
          options={givers.map((each) => [each, each] as const)}
          set={setProject}
        />
        <Select
          label="Role"
          value={chosen}
          options={roles.map((each) => [each.role, each.role] as const)}
          set={setRole}
        />
        <TextField
          label="What it is called"
          value={typed}
          placeholder={free}
          set={setTyped}
          hint="The name stays if it is replaced."
        />
      </div>
    </FormAction>
  );
}
