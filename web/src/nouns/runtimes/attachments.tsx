// Who has a part: each by two consents, of two people. Either side ends it alone.
import { useState } from "react";
import type { Schemas } from "@/api/client";
import { hasOwnRole, useMay } from "@/app/may";
import { useProjects } from "@/app/scope";
import { useWho } from "@/app/who";
import { Age } from "@/parts/age";
import { Badge } from "@/parts/badge";
import { Action } from "@/parts/confirm";
import { DataTable, type Cell } from "@/parts/data-table";
import { FormAction } from "@/parts/form-action";
import { Select } from "@/parts/labelled";
import { PlaceLink } from "@/parts/links";
import { Panel } from "@/parts/panel";
import { Empty } from "@/parts/states";
import { acceptPart, allowProject, endAttachment, leaveRuntime } from "./queries";
import { attachmentTone } from "./tones";

type View = Schemas["SharedRuntimeView"];
type Attachment = Schemas["SharedAttachment"];

export function Attachments({ view }: { view: View }) {
  const { tenant, runtime, is_leaving: isLeaving } = view.runtime;
  const may = useMay(tenant, null);
  const cells: Cell<Attachment>[] = [
    { header: "project", cell: (row) => <PlaceLink tenant={tenant} project={row.project} /> },
    {
      header: "phase",
      cell: (row) => <Badge word={row.phase} tone={attachmentTone(row.phase)} />,
    },
    { header: "the tenant's consent", cell: (row) => <Consent by={row.allowed_by} /> },
    { header: "the project's consent", cell: (row) => <Consent by={row.accepted_by} /> },
    { header: "since", cell: (row) => <Age ms={row.since_ms} /> },
    { header: "record", align: "right", cell: (row) => row.seq },
    {
      header: "what you may do",
      align: "right",
      cell: (row) => <Consents view={view} row={row} mayManage={may("shared_attachment.end")} />,
    },
  ];
  return (
    <Panel
      title="Projects with a part"
      flush
      aside={
        !isLeaving && may("shared_attachment.allow") && <Allow {...{ view, tenant, runtime }} />
      }
    >
      {view.attachments.length === 0 ? (
        <Empty title="No project that you may see has a part" />
      ) : (
        <DataTable
          label="Projects with a part"
          cells={cells}
          rows={view.attachments}
          rowId={(row) => row.project}
        />
      )}
      <JoinOwn view={view} />
    </Panel>
  );
}

function Consent({ by }: { by: string | null }) {
  return by === null ? (
    <Badge word="not yet" tone="warn" />
  ) : (
    <span className="whitespace-nowrap">by {by}</span>
  );
}

interface ConsentsTerms {
  view: View;
  row: Attachment;
  mayManage: boolean;
}

function Consents({ view, row, mayManage }: ConsentsTerms) {
  const { tenant, runtime, withdraw_within_ms: withinMs } = view.runtime;
  const self = useWho();
  const isOwn = hasOwnRole(self, "scheduler.shared_runtime.join", { tenant, project: row.project });
  const path = { tenant, runtime, project: row.project };
  const isOpen = row.phase === "requested" || row.phase === "attached";
  const what = `Its workers are withdrawn within ${Math.ceil(withinMs / 60_000)} minutes, its jobs there are ended, and policies of it and for it end.`;
  return (
    <div className="flex justify-end gap-2">
      {isOwn && isOpen && row.accepted_by === null && (
        <Action
          label="Accept"
          title={`Accept a part in ${runtime} for ${row.project}?`}
          change={(dryRun) => acceptPart(path, dryRun)}
        >
          <p>
            Members of {row.project} may then submit to its queues there. It costs {row.project}{" "}
            nothing until it gives a worker.
          </p>
        </Action>
      )}
      {isOwn && isOpen && (
        <Action
          label="Leave the runtime"
          title={`Take ${row.project} out of ${runtime}?`}
          isBad
          change={(dryRun) => leaveRuntime(path, dryRun)}
        >
          <p>{what}</p>
        </Action>
      )}
      {!isOwn && mayManage && row.phase === "requested" && row.allowed_by === null && (
        <Action
          label="Allow"
          title={`Allow ${row.project} a part in ${runtime}?`}
          change={(dryRun) => allowProject(path, dryRun)}
        >
          <p>{row.accepted_by} has consented for the project already, so it is attached then.</p>
        </Action>
      )}
      {!isOwn && mayManage && isOpen && (
        <Action
          label="Detach"
          title={`Detach ${row.project} from ${runtime}?`}
          isBad
          change={(dryRun) => endAttachment(path, dryRun)}
        >
          <p>{what}</p>
        </Action>
      )}
    </div>
  );
}

/** For the tenant: one more project. */
function Allow({ view, tenant, runtime }: { view: View; tenant: string; runtime: string }) {
  const [project, setProject] = useState("");
  const parts = new Set(view.attachments.map((each) => each.project));
  const rest = (useProjects(tenant).data ?? []).filter(
    (each) => each.is_open && !parts.has(each.project),
  );
  if (rest.length === 0) return null;
  return (
    <FormAction
      label="Allow a project"
      title={`Allow a project a part in ${runtime}`}
      body={project === "" ? null : { project }}
      change={(body, dryRun) => allowProject({ tenant, runtime, project: body.project }, dryRun)}
      onDone={() => setProject("")}
    >
      <Select
        label="Project"
        value={project}
        options={[
          ["", "choose one"],
          ...rest.map((each) => [each.project, each.project] as const),
        ]}
        set={setProject}
        hint="It is attached once somebody of that project accepts."
      />
    </FormAction>
  );
}

/** For somebody of a project that has no part: he may ask for one. */
function JoinOwn({ view }: { view: View }) {
  const self = useWho();
  const { tenant, runtime, is_leaving: isLeaving } = view.runtime;
  const parts = new Set(view.attachments.map((each) => each.project));
  const own = [
    ...new Set(
      self.roles.flatMap((role) =>
        role.tenant === tenant && role.project !== null ? [role.project] : [],
      ),
    ),
  ].filter(
    (project) =>
      !parts.has(project) && hasOwnRole(self, "scheduler.shared_runtime.join", { tenant, project }),
  );
  if (isLeaving || own.length === 0) return null;
  return (
    <div className="flex flex-wrap items-center gap-2 border-t border-line px-4 py-2">
      {own.map((project) => (
        <Action
          key={project}
          label={`Ask for a part for ${project}`}
          title={`Ask for a part in ${runtime} for ${project}?`}
          change={(dryRun) => acceptPart({ tenant, runtime, project }, dryRun)}
        >
          <p>You consent for {project}. It is attached once the tenant has allowed it too.</p>
        </Action>
      ))}
    </div>
  );
}
