// One instance: how it is against what is wanted, its members, what is under way, what it serves.
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import type { Schemas } from "@/api/client";
import { isGone } from "@/api/problem";
import { useMay } from "@/app/may";
import { useVersion, useVersions } from "@/nouns/apps/queries";
import { instanceTone } from "@/nouns/runtimes/tones";
import { Age } from "@/parts/age";
import { Badge } from "@/parts/badge";
import { Action } from "@/parts/confirm";
import { FormAction } from "@/parts/form-action";
import { Select, TextField } from "@/parts/labelled";
import { PlaceLink } from "@/parts/links";
import { Meter } from "@/parts/meter";
import { ObjectPage } from "@/parts/object-page";
import { Story } from "@/parts/story";
import { Facts, Panel } from "@/parts/panel";
import { Loaded } from "@/parts/states";
import { spell } from "@/words/amounts";
import { Asking } from "./asking";
import { Endpoints } from "./endpoints";
import { Members } from "./members";
import { Operations } from "./operations";
import {
  askInstance,
  changeInstance,
  deleteInstance,
  useInstance,
  type InstancePath,
} from "./queries";
import { isAskable } from "./questions";
import { ToldUsage } from "./told-usage";

type Instance = Schemas["Instance"];

export function Page() {
  const { tenant, project, id } = useParams({ strict: false }) as {
    tenant: string;
    project: string;
    id: string;
  };
  const path = { tenant, project, instance_id: Number(id) };
  const query = useInstance(path);
  if (query.data !== undefined && isGone(query.error)) return <Gone path={path} row={query.data} />;
  return <Loaded query={query}>{(row) => <InstanceView path={path} row={row} />}</Loaded>;
}

function InstanceView({ path, row }: { path: InstancePath; row: Instance }) {
  const may = useMay(path.tenant, path.project);
  const isShared = row.control_plane_scope === "tenant";
  const isGone = row.phase === "deleting" || row.phase === "deleted";
  return (
    <ObjectPage
      noun="instance"
      name={`${row.name} (${row.instance_id})`}
      state={<Badge word={row.phase} tone={instanceTone(row.phase)} />}
      command={`bailiwick app instance show ${row.name} --tenant ${row.tenant} --project ${row.project}`}
      actions={
        !isGone && (
          <>
            {may("instance.change") && <Changes path={path} row={row} />}
            {may("instance.delete") && !isShared && (
              <Action
                label="Delete it"
                title={`Delete the instance ${row.name}?`}
                isBad
                change={(dryRun) => deleteInstance(path, dryRun)}
              >
                <p>All its members are ended and their leases given back. It does not come back.</p>
              </Action>
            )}
          </>
        )
      }
    >
      {row.conditions.length > 0 && (
        <Panel title="Out of the ordinary">
          <ul className="flex flex-wrap gap-2">
            {row.conditions.map((word) => (
              <li key={word}>
                <Badge word={word} tone={word === "paused" ? "info" : "warn"} />
              </li>
            ))}
          </ul>
        </Panel>
      )}
      <div className="grid gap-4 lg:grid-cols-2">
        <Panel title="What is wanted">
          <Facts rows={wantedRows(row)} />
        </Panel>
        <Panel title="How it is">
          <div className="space-y-3">
            {Object.entries(row.counts).map(([role, many]) => (
              <Meter
                key={role}
                label={role}
                name={`${role} that are ready`}
                used={row.ready[role] ?? 0}
                limit={Math.max(many, 1)}
                told={`${row.ready[role] ?? 0} of ${many} ready`}
                isGoal
              />
            ))}
            <Facts
              rows={[
                ["its operator says", row.reason],
                ["generation", row.generation],
                [
                  "seen by its operator",
                  row.observed_generation === 0 ? "no operator yet" : row.observed_generation,
                ],
                ["due", row.deadline_ms === null ? null : <Age ms={row.deadline_ms} />],
              ]}
            />
          </div>
        </Panel>
      </div>
      <Members path={path} row={row} />
      <Operations path={path} />
      {!isShared && <Queue path={path} row={row} />}
      <ToldUsage path={path} />
      <Endpoints path={path} name={row.name} />
      <StoryOfIt path={path} />
    </ObjectPage>
  );
}

/** It was there, and is not any more: what is left of it is what happened. */
function Gone({ path, row }: { path: InstancePath; row: Instance }) {
  return (
    <ObjectPage
      noun="instance"
      name={`${row.name} (${row.instance_id})`}
      state={<Badge word="gone" tone="quiet" />}
      command={`bailiwick app instance list --tenant ${row.tenant} --project ${row.project}`}
    >
      <Panel title="It is deleted">
        <p role="status">
          Its members have ended and their leases are given back. What it used stays on the bill of{" "}
          <PlaceLink tenant={row.tenant} project={row.project} />.
        </p>
      </Panel>
      <StoryOfIt path={path} />
    </ObjectPage>
  );
}

function StoryOfIt({ path }: { path: InstancePath }) {
  const { tenant, project, instance_id } = path;
  return <Story of={{ subject: "instance", name: String(instance_id), tenant, project }} />;
}

/** Its own queue, for who may ask it; behind a shared runtime it is asked there. */
function Queue({ path, row }: { path: InstancePath; row: Instance }) {
  const mayAsk = useMay(path.tenant, path.project)("instance_queue.read");
  if (!mayAsk || !isAskable(row.phase)) return null;
  return (
    <Panel title="Ask its queue" aside="each question is a record">
      <Asking
        backend={row.runtime_backend}
        send={(argv, key) => askInstance(path, argv, key)}
        command={(words) =>
          `bailiwick app call ${row.name} read --tenant ${row.tenant} --project ${row.project} -- ${words}`
        }
      />
    </Panel>
  );
}

function wantedRows(row: Instance): [string, React.ReactNode][] {
  const parameters = Object.entries(row.parameters);
  return [
    [
      "app",
      <>
        <Link to="/apps/$app" params={{ app: row.app }} className="link">
          {row.app}
        </Link>{" "}
        {row.version}
      </>,
    ],
    ["project", <PlaceLink tenant={row.tenant} project={row.project} />],
    ["control plane for", `one ${row.control_plane_scope}`],
    ["operating mode", spell(row.operating_mode)],
    ["since", <Age ms={row.created_ms} />],
    ["rolls back to", row.rollback_version],
    [
      "parameters",
      parameters.length === 0 ? (
        "none given"
      ) : (
        <ul>
          {parameters.map(([name, value]) => (
            <li key={name}>
              <code className="font-mono text-xs">
                {name}={typeof value === "string" ? value : JSON.stringify(value)}
              </code>
            </li>
          ))}
        </ul>
      ),
    ],
  ];
}

function Changes({ path, row }: { path: InstancePath; row: Instance }) {
  const versions = useVersions(row.app).data ?? [];
  const others = versions.filter(
    (each) => each.version !== row.version && each.lifecycle !== "retired",
  );
  const [version, setVersion] = useState("");
  const paused = row.is_paused;
  return (
    <>
      <Scale path={path} row={row} />
      {others.length > 0 && (
        <FormAction
          label="Upgrade"
          title={`Another version of ${row.name}`}
          body={version === "" ? null : { version }}
          change={(body, dryRun) => changeInstance(path, body, dryRun)}
          onDone={() => setVersion("")}
        >
          <p>
            Members are replaced one of a role at a time, while all others of that role are ready. It
            goes along the upgrades that the manifests name.
          </p>
          <Select
            label="To version"
            value={version}
            options={[
              ["", "choose one"],
              ...others.map((each) => [each.version, each.version] as const),
            ]}
            set={setVersion}
          />
        </FormAction>
      )}
      {row.rollback_version !== null && (
        <Action
          label="Roll back"
          title={`Roll ${row.name} back to ${row.rollback_version}?`}
          change={(dryRun) => changeInstance(path, { rollback: true }, dryRun)}
        >
          <RollbackNote app={row.app} version={row.version} back={row.rollback_version} />
        </Action>
      )}
      <Action
        label={paused ? "Resume" : "Pause"}
        title={paused ? `Resume ${row.name}?` : `Pause ${row.name}?`}
        change={(dryRun) => changeInstance(path, { is_paused: !paused }, dryRun)}
      >
        <p>
          {paused
            ? "What is wanted of it is begun again."
            : "Nothing is begun for it until it is resumed. What runs goes on."}
        </p>
      </Action>
    </>
  );
}

function RollbackNote({ app, version, back }: { app: string; version: string; back: string }) {
  const manifest = useVersion(app, version).data?.manifest ?? "";
  const keeps = !manifest.includes('"rollback":{"data":"discarded"}');
  return (
    <p>
      It goes back to what it last ran as ({back}): version, parameters and counts.{" "}
      {keeps ? "Its data is kept." : "Its data is discarded, by the manifest."}
    </p>
  );
}

function Scale({ path, row }: { path: InstancePath; row: Instance }) {
  const [typed, setTyped] = useState<Record<string, string>>({});
  const counts: Record<string, number> = {};
  let isWhole = false;
  for (const [role, many] of Object.entries(row.counts)) {
    const text = typed[role] ?? "";
    counts[role] = /^\d{1,4}$/.test(text) ? Number(text) : many;
    isWhole ||= counts[role] !== many;
  }
  return (
    <FormAction
      label="Scale"
      title={`How many members of ${row.name}`}
      body={isWhole ? { counts } : null}
      change={(body, dryRun) => changeInstance(path, body, dryRun)}
      onDone={() => setTyped({})}
    >
      <div className="grid gap-3 sm:grid-cols-2">
        {Object.entries(row.counts).map(([role, many]) => (
          <TextField
            key={role}
            label={`How many: ${role}`}
            value={typed[role] ?? ""}
            placeholder={String(many)}
            set={(text) => setTyped({ ...typed, [role]: text })}
            isNumber
          />
        ))}
      </div>
    </FormAction>
  );
}
