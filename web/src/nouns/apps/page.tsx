// One app: its versions, what it is made of, and who may use it how.
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import type { Schemas } from "@/api/client";
import { useMay } from "@/app/may";
import { useScope, useTenantNames } from "@/app/scope";
import { Age } from "@/parts/age";
import { Badge } from "@/parts/badge";
import { Action } from "@/parts/confirm";
import { DataTable, type Cell } from "@/parts/data-table";
import { Select } from "@/parts/labelled";
import { ObjectPage } from "@/parts/object-page";
import { Facts, Panel } from "@/parts/panel";
import { Loaded } from "@/parts/states";
import { spell } from "@/words/amounts";
import { EffectivePanel, placeWord } from "./effective";
import { shapeSentence } from "./manifest";
import {
  setEntitlement,
  useApp,
  useEffective,
  useEntitlements,
  useVersion,
  useVersions,
} from "./queries";
import { lifeTone, readinessTone } from "./tones";

type App = Schemas["App"];

const VERSION_CELLS: Cell<Schemas["AppVersion"]>[] = [
  { header: "version", cell: (row) => <b>{row.version}</b> },
  {
    header: "life",
    cell: (row) => <Badge word={row.lifecycle} tone={lifeTone(row.lifecycle)} />,
  },
  {
    header: "checked",
    cell: (row) =>
      row.check === null ? (
        <span className="text-muted">not yet</span>
      ) : (
        <Badge word={row.check.verdict} tone={readinessTone(row.check.verdict)} />
      ),
  },
  {
    header: "host",
    cell: (row) => (row.host_asked ? (row.host_granted ? "granted" : "asked for") : "no"),
  },
  { header: "published", align: "right", cell: (row) => <Age ms={row.published_ms} /> },
];

export function Page() {
  const { app } = useParams({ strict: false }) as { app: string };
  const query = useApp(app);
  return <Loaded query={query}>{(found) => <AppView app={found} />}</Loaded>;
}

function AppView({ app }: { app: App }) {
  const { scope } = useScope();
  const tenants = useTenantNames();
  const [typed, setTyped] = useState("");
  const tenant = typed || scope.tenant || tenants[0] || null;
  const project = scope.tenant === tenant ? scope.project : null;
  const [version, setVersion] = useState(app.newest);
  const versions = useVersions(app.app);
  return (
    <ObjectPage
      noun="app"
      name={app.app}
      state={<Badge word={app.lifecycle} tone={lifeTone(app.lifecycle)} />}
      command={`bailiwick app show ${app.app} --version ${version}`}
      actions={
        <>
          <Link to="/apps/$app/run" params={{ app: app.app }} className="button button-main">
            Run it in a project
          </Link>
          <ShareLink app={app.app} version={version} tenant={tenant} />
        </>
      }
    >
      <p className="text-muted">{app.title}</p>
      <Panel title="Versions" flush>
        <Loaded query={versions}>
          {(rows) => (
            <DataTable
              label="Versions"
              cells={VERSION_CELLS}
              rows={[...rows].reverse()}
              rowId={(row) => row.version}
            />
          )}
        </Loaded>
      </Panel>
      <div className="flex flex-wrap gap-3">
        <Select
          label="What a version is made of"
          value={version}
          options={(versions.data ?? []).map((each) => [each.version, each.version] as const)}
          set={setVersion}
        />
        {tenants.length > 0 && (
          <Select
            label="What counts in the tenant"
            value={tenant ?? ""}
            options={tenants.map((each) => [each, each] as const)}
            set={setTyped}
          />
        )}
      </div>
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <VersionPanel app={app.app} version={version} />
        <div className="space-y-4">
          <EffectivePanel app={app.app} tenant={tenant} project={project} />
          {tenant !== null && <Enable {...{ app: app.app, tenant, project }} />}
        </div>
      </div>
    </ObjectPage>
  );
}

interface ShareTerms {
  app: string;
  version: string;
  tenant: string | null;
}

/** Sharing is a flow of its own; it is offered where the version is made for it and one may. */
function ShareLink({ app, version, tenant }: ShareTerms) {
  const may = useMay(tenant, null);
  const scopes = useVersion(app, version).data?.read.scopes ?? [];
  if (tenant === null || !scopes.includes("tenant") || !may("shared_runtime.create")) return null;
  return (
    <Link to="/tenants/$tenant/share" params={{ tenant }} className="button">
      Share it between projects of {tenant}
    </Link>
  );
}

function VersionPanel({ app, version }: { app: string; version: string }) {
  const query = useVersion(app, version);
  return (
    <Panel title={`Version ${version}`}>
      <Loaded query={query}>
        {(found) => (
          <div className="space-y-3">
            {found.read.description !== "" && <p>{found.read.description}</p>}
            <Facts
              rows={[
                [
                  "roles",
                  <ul>
                    {found.read.roles.map((role) => (
                      <li key={role.role}>
                        <b>{role.role}</b>
                        {role.isControlPlane && " (steers it)"}: {role.least} to {role.most}, each{" "}
                        {shapeSentence(role.shape)}
                      </li>
                    ))}
                  </ul>,
                ],
                ["for one", found.read.scopes.join(" or ") || "project"],
                ["modes", found.read.modes.map(spell).join(", ")],
                ["counts", found.read.units.join(", ") || "nothing of its own"],
                [
                  "upgrades",
                  found.read.upgrades.map(([from, to]) => `${from} to ${to}`).join(", ") || "none",
                ],
                [
                  "parameters",
                  found.read.parameters.map((each) => each.name).join(", ") || "none",
                ],
                ["digest", <code className="font-mono text-xs break-all">{found.digest}</code>],
              ]}
            />
            {found.read.runbook !== "" && (
              <details>
                <summary className="cursor-pointer py-1 font-medium">Runbook</summary>
                <pre
                  tabIndex={0}
                  className="overflow-x-auto rounded-md bg-raised p-3 font-mono text-xs whitespace-pre-wrap"
                >
                  {found.read.runbook}
                </pre>
              </details>
            )}
          </div>
        )}
      </Loaded>
    </Panel>
  );
}

interface EnableTerms {
  app: string;
  tenant: string;
  project: string | null;
}

/** The line of the place that is looked at: to switch the app on or off there. */
function Enable({ app, tenant, project }: EnableTerms) {
  const may = useMay(tenant, project);
  const policy = useEffective({ app, tenant, project }).data;
  const lines = useEntitlements(may("entitlement.set")).data;
  if (policy === undefined || lines === undefined) return null;
  const line = lines.find(
    (each) => each.app === app && each.tenant === tenant && each.project === project,
  );
  const next = !policy.is_enabled;
  const where = placeWord({ tenant, project });
  const body = {
    app,
    is_enabled: next,
    tenant,
    ...(project === null ? {} : { project }),
    ...(line === undefined ? {} : { overlay: line.overlay }),
  };
  return (
    <Action
      label={next ? `Enable it in ${where}` : `Disable it in ${where}`}
      title={next ? `Enable ${app} in ${where}?` : `Disable ${app} in ${where}?`}
      isBad={!next}
      change={(dryRun) => setEntitlement(body, dryRun)}
    >
      <p>
        {next
          ? "Instances may be created there then, within all lines together."
          : "No instance is created there any more; members of those that there are are not renewed."}{" "}
        The limits that the line of {where} has stay as they are.
      </p>
    </Action>
  );
}
