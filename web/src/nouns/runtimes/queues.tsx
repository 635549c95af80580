// Who may submit where, the policies that open a queue, and the answer to "may I?".
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Schemas } from "@/api/client";
import { hasOwnRole, useMay } from "@/app/may";
import { useWho } from "@/app/who";
import { Badge } from "@/parts/badge";
import { Action } from "@/parts/confirm";
import { FormAction } from "@/parts/form-action";
import { Select, TextField } from "@/parts/labelled";
import { Panel } from "@/parts/panel";
import { Failed } from "@/parts/states";
import { endPolicy, maySubmit, setPolicy } from "./queries";
import { RightsMatrix } from "./rights";
import { denialSentence } from "./tones";

type View = Schemas["SharedRuntimeView"];

export function Queues({ view, asks }: { view: View; asks: string | null }) {
  const { tenant } = view.runtime;
  const self = useWho();
  const attached = view.attachments.map((each) => each.project);
  const people = view.submit_rights.flatMap((right) => right.person ?? []);
  const guests = view.submit_rights.flatMap((right) => right.project ?? []);
  const owners = [...new Set([...attached, ...view.submit_rights.map((right) => right.owner)])];
  const own = view.attachments
    .filter((each) => each.phase === "attached")
    .map((each) => each.project)
    .filter((project) => hasOwnRole(self, "scheduler.shared_runtime.join", { tenant, project }));
  return (
    <Panel
      title="Who may submit where"
      aside={own.length > 0 && <OpenQueue view={view} owners={own} />}
    >
      <div className="space-y-3">
        <RightsMatrix
          rows={[...new Set([...attached, ...guests, ...people])].sort()}
          owners={owners.sort()}
          rights={view.submit_rights}
        />
        <p className="text-muted">All that is not named here is denied.</p>
        <Policies view={view} own={own} />
        {asks !== null && <AskMe view={view} project={asks} />}
      </div>
    </Panel>
  );
}

function Policies({ view, own }: { view: View; own: string[] }) {
  const { tenant, runtime } = view.runtime;
  const rows = view.submit_rights.filter(
    (right) => right.policy !== null && own.includes(right.owner),
  );
  if (rows.length === 0) return null;
  return (
    <ul className="space-y-1" aria-label="Policies of your projects">
      {rows.map((right) => (
        <li key={`${right.owner}/${right.policy}`} className="flex items-center gap-3">
          <span>
            <b>{right.policy}</b> lets {right.project ?? right.person} into {right.queue} of{" "}
            {right.owner}
          </span>
          <Action
            label="End it"
            title={`End the policy ${right.policy}?`}
            isBad
            change={(dryRun) =>
              endPolicy(
                { tenant, runtime, project: right.owner, policy: right.policy ?? "" },
                dryRun,
              )
            }
          >
            <p>Nobody is let in by it any more, from now; work that it let in is ended.</p>
          </Action>
        </li>
      ))}
    </ul>
  );
}

const DAY_MS = 86_400_000;

function OpenQueue({ view, owners }: { view: View; owners: string[] }) {
  const { tenant, runtime } = view.runtime;
  const others = view.attachments.map((each) => each.project);
  const [owner, setOwner] = useState(owners[0] ?? "");
  const [queue, setQueue] = useState("main");
  const [policy, setPolicyName] = useState("guests");
  const [project, setProject] = useState("");
  const [person, setPerson] = useState("");
  const [days, setDays] = useState("1");
  const [limit, setLimit] = useState("");
  const limits = limitsOf(limit);
  const isWhole = queue !== "" && policy !== "" && (project !== "") !== (person !== "");
  const many = /^\d{1,3}$/.test(days) ? Number(days) : 0;
  const body = isWhole && many > 0 && limits !== null ? { queue, many, limits, project, person } : null;
  return (
    <FormAction
      label="Open a queue"
      title={`Let others use a queue of ${owner}`}
      body={body}
      change={(wanted, dryRun) =>
        setPolicy(
          { tenant, runtime, project: owner, policy },
          {
            queue: wanted.queue,
            until_ms: Date.now() + wanted.many * DAY_MS,
            limits: wanted.limits,
            ...(wanted.project ? { grantee_project: wanted.project } : {}),
            ...(wanted.person ? { grantee_person: wanted.person } : {}),
          },
          dryRun,
        )
      }
    >
      <p>A queue is money: what guests run there uses workers that {owner} pays for.</p>
      <div className="grid gap-3 sm:grid-cols-2">
        <Select
          label="Queue of"
          value={owner}
          options={owners.map((each) => [each, each] as const)}
          set={setOwner}
        />
        <TextField label="Queue" value={queue} set={setQueue} />
        <Select
          label="For the project"
          value={project}
          options={[
            ["", "none"],
            ...others
              .filter((each) => each !== owner)
              .map((each) => [each, each] as const),
          ]}
          set={setProject}
        />
        <TextField
          label="Or for the person"
          value={person}
          set={setPerson}
          placeholder="ann@lab.example"
        />
        <TextField label="For how many days" value={days} set={setDays} isNumber />
        <TextField
          label="Limits (optional)"
          value={limit}
          set={setLimit}
          placeholder="gpus=4 jobs=1"
          hint="In the app's own words."
        />
        <TextField label="What the policy is called" value={policy} set={setPolicyName} />
      </div>
    </FormAction>
  );
}

/** "gpus=4 jobs=1" as limits; null if it is not that. */
export function limitsOf(text: string): Record<string, number> | null {
  const found: Record<string, number> = {};
  for (const word of text.split(/[\s,]+/).filter((each) => each !== "")) {
    const [, name, number] = /^([a-z][a-z0-9_-]{0,30})=(\d{1,9})$/.exec(word) ?? [];
    if (name === undefined || number === undefined) return null;
    found[name] = Number(number);
  }
  return found;
}

/** The very answer that a submission would get, for the project that one works in. */
function AskMe({ view, project }: { view: View; project: string }) {
  const { tenant, runtime } = view.runtime;
  const may = useMay(tenant, project);
  const owners = [...new Set([project, ...view.submit_rights.map((right) => right.owner)])];
  const [owner, setOwner] = useState(project);
  const [queue, setQueue] = useState("main");
  const isOn = may("submit_policy.ask") && queue !== "";
  const answer = useQuery({
    queryKey: ["runtimes", tenant, runtime, "may-submit", project, owner, queue],
    enabled: isOn,
    retry: false,
    queryFn: () => maySubmit({ tenant, runtime, project }, { owner, queue }),
  });
  if (!may("submit_policy.ask")) return null;
  return (
    <div className="flex flex-wrap items-end gap-3 rounded-md bg-raised p-3">
      <Select
        label={`May I submit, from ${project}, to queues of`}
        value={owner}
        options={owners.map((each) => [each, each] as const)}
        set={setOwner}
      />
      <TextField label="Queue" value={queue} set={setQueue} className="w-36" />
      <p role="status" className="py-1.5">
        {answer.data?.is_allowed === true && (
          <>
            <Badge word="yes" tone="good" />{" "}
            {answer.data.policy !== null && `by the policy ${answer.data.policy}`}
          </>
        )}
        {answer.data?.denied && (
          <>
            <Badge word="no" tone="bad" /> {denialSentence(answer.data.denied)}
          </>
        )}
      </p>
      {answer.isError && <Failed error={answer.error} />}
    </div>
  );
}
