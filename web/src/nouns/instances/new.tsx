// Running an app in one project: what its manifest lets one choose, and what the server would make of
// it. An app for several projects has a flow of its own.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useDeferredValue, useState } from "react";
import type { Schemas } from "@/api/client";
import { useMay } from "@/app/may";
import { useProjects, useScope, useTenantNames } from "@/app/scope";
import { EffectivePanel } from "@/nouns/apps/effective";
import { parameterValues, shapeSentence, type Manifest } from "@/nouns/apps/manifest";
import { ParameterFields } from "@/nouns/apps/parameters";
import { useVersion, useVersions } from "@/nouns/apps/queries";
import { CommandLine } from "@/parts/copy";
import { Select, TextField } from "@/parts/labelled";
import { PageHead } from "@/parts/object-page";
import { Panel } from "@/parts/panel";
import { Failed, Skeleton } from "@/parts/states";
import { createInstance } from "./queries";

interface Wish {
  tenant: string;
  project: string;
  version: string;
  name: string;
  counts: Record<string, string>;
  parameters: Record<string, string>;
}

export function Page() {
  const { app } = useParams({ strict: false }) as { app: string };
  const { scope } = useScope();
  const tenants = useTenantNames();
  const [wish, setWish] = useState<Wish>({
    tenant: scope.tenant ?? "",
    project: scope.project ?? "",
    version: "",
    name: "",
    counts: {},
    parameters: {},
  });
  const set = (change: Partial<Wish>) => setWish({ ...wish, ...change });
  const tenant = wish.tenant || tenants[0] || "";
  const projects = useProjects(tenant === "" ? null : tenant).data ?? [];
  const project = wish.project || projects[0]?.project || "";
  const versions = (useVersions(app).data ?? []).filter((each) => each.lifecycle !== "retired");
  const version = wish.version || versions.at(-1)?.version || "";
  const detail = useVersion(app, version || null);
  const manifest = detail.data?.read;
  const body = manifest && bodyOf(app, version, wish, manifest);
  const names = [...new Set([...projects.map((each) => each.project), project])].filter(Boolean);
  return (
    <>
      <PageHead title={`Run ${app} in a project`}>
        <Link to="/apps/$app" params={{ app }} className="button">
          About {app}
        </Link>
      </PageHead>
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <Panel title="What">
          <div className="space-y-4">
            <div className="grid gap-3 sm:grid-cols-2">
              <Select
                label="Tenant"
                value={tenant}
                options={tenants.map((each) => [each, each] as const)}
                set={(next) => set({ tenant: next, project: "" })}
              />
              <Select
                label="Project"
                value={project}
                options={names.map((each) => [each, each] as const)}
                set={(next) => set({ project: next })}
              />
              <TextField
                label="Name"
                value={wish.name}
                placeholder="demo"
                set={(name) => set({ name })}
              />
              <Select
                label="Version"
                value={version}
                options={versions.map((each) => [each.version, each.version] as const)}
                set={(next) => set({ version: next })}
              />
            </div>
            {detail.isError && <Failed error={detail.error} />}
            {manifest && <Counts manifest={manifest} wish={wish} set={set} />}
            {manifest && (
              <section aria-label="Parameters" className="space-y-2">
                <h3 className="font-medium">Parameters</h3>
                <ParameterFields
                  parameters={manifest.parameters}
                  typed={wish.parameters}
                  set={(parameters) => set({ parameters })}
                />
              </section>
            )}
          </div>
        </Panel>
        <div className="space-y-4">
          {tenant !== "" && project !== "" && (
            <Outcome key={`${tenant}/${project}`} {...{ tenant, project, body: body ?? null }} />
          )}
          {tenant !== "" && <EffectivePanel app={app} tenant={tenant} project={project || null} />}
        </div>
      </div>
    </>
  );
}

function Counts({
  manifest,
  wish,
  set,
}: {
  manifest: Manifest;
  wish: Wish;
  set: (change: Partial<Wish>) => void;
}) {
  return (
    <section aria-label="Members" className="space-y-2">
      <h3 className="font-medium">Members</h3>
      <div className="grid gap-3 sm:grid-cols-2">
        {manifest.roles.map((role) => (
          <TextField
            key={role.role}
            label={`How many: ${role.role}`}
            value={wish.counts[role.role] ?? ""}
            placeholder={String(role.least)}
            set={(many) => set({ counts: { ...wish.counts, [role.role]: many } })}
            hint={`${role.least} to ${role.most}, each ${shapeSentence(role.shape)}`}
            isNumber
          />
        ))}
      </div>
    </section>
  );
}

const NAME = /^[a-z]([a-z0-9-]{0,29}[a-z0-9])?$/;

/** The wish as the API takes it; null while something is missing. */
export function bodyOf(
  app: string,
  version: string,
  wish: Pick<Wish, "name" | "counts" | "parameters">,
  manifest: Manifest,
): Schemas["NewInstance"] | null {
  const parameters = parameterValues(manifest.parameters, wish.parameters);
  if (parameters === null || version === "" || !NAME.test(wish.name)) return null;
  const counts: Record<string, number> = {};
  for (const [role, many] of Object.entries(wish.counts)) {
    if (many === "") continue;
    if (!/^\d{1,4}$/.test(many)) return null;
    counts[role] = Number(many);
  }
  const told = parameters as Schemas["NewInstance"]["parameters"];
  return { app, version, name: wish.name, counts, parameters: told };
}

interface OutcomeTerms {
  tenant: string;
  project: string;
  body: Schemas["NewInstance"] | null;
}

function Outcome({ tenant, project, body }: OutcomeTerms) {
  const may = useMay(tenant, project);
  const client = useQueryClient();
  const navigate = useNavigate();
  const path = { tenant, project };
  const key = useDeferredValue(body === null ? null : JSON.stringify(body));
  const real = useMutation({
    mutationFn: (wanted: Schemas["NewInstance"]) => createInstance(path, wanted, false),
    onSuccess: async (made) => {
      await client.invalidateQueries({ queryKey: ["instances"] });
      const id = "instance_id" in made ? made.instance_id : null;
      if (id === null) return navigate({ to: "/instances" });
      return navigate({
        to: "/tenants/$tenant/projects/$project/instances/$id",
        params: { ...path, id: String(id) },
      });
    },
  });
  const dryRun = useQuery({
    queryKey: ["dry-run", "instances", tenant, project, key],
    enabled: key !== null && may("instance.create") && (real.isIdle || real.isError),
    retry: false,
    gcTime: 0,
    queryFn: () => createInstance(path, JSON.parse(key ?? "null") as Schemas["NewInstance"], true),
  });
  return (
    <Panel title="What would happen" aside={dryRun.isFetching ? "asking" : "a dry run"}>
      <div className="space-y-3">
        {!may("instance.create") && (
          <p className="text-muted">
            You have no key to create instances in {tenant}/{project}.
          </p>
        )}
        {body === null && (
          <p className="text-muted">
            Give it a name (small letters, digits and -) and what its version needs.
          </p>
        )}
        {body !== null && dryRun.isFetching && <Skeleton lines={1} />}
        {body !== null && dryRun.isError && <Failed error={dryRun.error} />}
        {body !== null && dryRun.isSuccess && (
          <p className="text-muted">Tried without effect: the server would do it.</p>
        )}
        {real.isError && <Failed error={real.error} />}
        <button
          type="button"
          className="button button-main"
          disabled={body === null || !dryRun.isSuccess || dryRun.isFetching || real.isPending}
          onClick={() => body !== null && real.mutate(body)}
        >
          Run it
        </button>
        {body !== null && <CommandLine command={commandOf(path, body)} />}
      </div>
    </Panel>
  );
}

function commandOf(
  { tenant, project }: { tenant: string; project: string },
  body: Schemas["NewInstance"],
): string {
  const counts = Object.entries(body.counts ?? {}).map(([role, many]) => `--count ${role}=${many}`);
  const values = Object.entries(body.parameters ?? {}).map(
    ([name, value]) => `--set ${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return [
    `bailiwick app instance create ${body.name} ${body.app} --version ${body.version}`,
    `--tenant ${tenant} --project ${project}`,
    ...counts,
    ...values,
  ].join(" ");
}
