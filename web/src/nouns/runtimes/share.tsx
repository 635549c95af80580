// Sharing an app between a tenant's projects: a flow of its own. How, what, with whom, whose machines;
// then who may submit where, who pays, and the acceptance of just that, by its digest.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useDeferredValue, useState } from "react";
import type { Schemas } from "@/api/client";
import { useProjects } from "@/app/scope";
import { mayAnywhere, useWho } from "@/app/who";
import { useVersion } from "@/nouns/apps/queries";
import { useAllNodes } from "@/nouns/nodes/queries";
import { CommandLine } from "@/parts/copy";
import { PageHead } from "@/parts/object-page";
import { Failed, Skeleton } from "@/parts/states";
import { Bill } from "./bill";
import { allowProject, askPlan, createRuntime } from "./queries";
import { RightsMatrix } from "./rights";
import { AllocationStep, ModeStep, ProjectsStep, Step, WhatStep, type Mode } from "./steps";
import { EMPTY, wishOf, type SharedWish } from "./wish";

type Body = Schemas["SharedRuntimeWish"];

export function Page() {
  const { tenant } = useParams({ strict: false }) as { tenant: string };
  const [mode, setMode] = useState<Mode | null>(null);
  const [wish, setWish] = useState<SharedWish>(EMPTY);
  const set = (change: Partial<SharedWish>) => setWish({ ...wish, ...change });
  const version = useVersion(wish.app || null, wish.version || null);
  const manifest = version.data?.read;
  const projects = useProjects(tenant).data ?? [];
  const body = wishOf(wish, manifest);
  return (
    <>
      <PageHead title={`Share an app between projects of ${tenant}`} />
      <div className="max-w-4xl space-y-4">
        <ModeStep mode={mode} choose={setMode} />
        {mode === "tenant" && (
          <>
            <WhatStep {...{ wish, set, manifest }} />
            {version.isError && <Failed error={version.error} />}
            <ProjectsStep {...{ wish, set, projects }} />
            {manifest !== undefined && <Machines {...{ wish, set, projects, manifest }} />}
            <Step number={5} title="Who may submit where">
              <RightsMatrix rows={wish.projects} owners={wish.projects} rights={[]} isPlanned />
              <p className="text-muted">
                All else is denied. A project opens a queue of its own to another project or to a
                person, with limits and until a time; nobody else can do that for it.
              </p>
            </Step>
            <PayStep {...{ tenant, wish, body }} />
          </>
        )}
      </div>
    </>
  );
}

type MachinesTerms = Omit<Parameters<typeof AllocationStep>[0], "labels">;

function Machines(terms: MachinesTerms) {
  const mayRead = mayAnywhere(useWho(), "scheduler.node.read");
  return mayRead ? <MachinesWithLabels {...terms} /> : <AllocationStep {...terms} labels={[]} />;
}

function MachinesWithLabels(terms: MachinesTerms) {
  const nodes = useAllNodes().data ?? [];
  const labels = [...new Set(nodes.flatMap((node) => node.labels))].sort().slice(0, 200);
  return <AllocationStep {...terms} labels={labels} />;
}

interface PayTerms {
  tenant: string;
  wish: SharedWish;
  body: Body | null;
}

/** The bill of what is wanted now. Accepting is of one digest: another wish is to be accepted anew. */
function PayStep({ tenant, wish, body }: PayTerms) {
  const [accepted, setAccepted] = useState<string | null>(null);
  const key = useDeferredValue(body === null ? null : JSON.stringify(body));
  const plan = useQuery({
    queryKey: ["plan", "runtimes", tenant, key],
    enabled: key !== null,
    retry: false,
    queryFn: () => askPlan(tenant, JSON.parse(key ?? "null") as Body),
  });
  const digest = key !== null && plan.isSuccess ? plan.data.digest : null;
  // What was planned, not what is being typed: a digest is of one wish and of no other.
  const planned = key === null ? null : (JSON.parse(key) as Body);
  const isAccepted = digest !== null && accepted === digest;
  return (
    <Step number={6} title="Who owns it, who pays, and your acceptance">
      {key === null && (
        <p className="text-muted">
          Choose an app, a version and an owner record, and who pays for what stands here.
        </p>
      )}
      {plan.isFetching && plan.data === undefined && <Skeleton lines={4} />}
      {plan.isError && <Failed error={plan.error} />}
      {plan.data !== undefined && key !== null && (
        <>
          <Bill plan={plan.data} wish={wish} />
          <label className="flex items-start gap-2 rounded-lg border border-line bg-raised p-3">
            <input
              type="checkbox"
              className="mt-1 accent-(--accent)"
              checked={isAccepted}
              onChange={(event) => setAccepted(event.target.checked ? digest : null)}
            />
            <span className="font-medium">
              I have read who owns it and who pays for what, and accept that for {tenant}.
            </span>
          </label>
          {isAccepted && planned !== null && (
            <Create {...{ tenant, wish, body: { ...planned, accepted_digest: digest } }} />
          )}
        </>
      )}
    </Step>
  );
}

interface CreateTerms {
  tenant: string;
  wish: SharedWish;
  body: Schemas["NewSharedRuntime"];
}

/** Tried first; then made, and the chosen projects allowed one after another. */
function Create({ tenant, wish, body }: CreateTerms) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const runtime = body.runtime;
  const real = useMutation({
    mutationFn: async () => {
      await createRuntime(tenant, body, false);
      for (const project of wish.projects) await allowProject({ tenant, runtime, project }, false);
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["runtimes"] }),
    onSuccess: () =>
      navigate({ to: "/tenants/$tenant/runtimes/$runtime", params: { tenant, runtime } }),
  });
  const dryRun = useQuery({
    queryKey: ["dry-run", "runtimes", tenant, body],
    enabled: real.isIdle || real.isError,
    retry: false,
    gcTime: 0,
    queryFn: () => createRuntime(tenant, body, true),
  });
  const many = wish.projects.length;
  const allowed = many === 0 ? "" : ` and allow ${many} ${many === 1 ? "project" : "projects"}`;
  return (
    <div className="space-y-3">
      {dryRun.isPending && <Skeleton lines={1} />}
      {dryRun.isError && <Failed error={dryRun.error} />}
      {dryRun.isSuccess && !real.isError && (
        <p className="text-muted">Tried without effect: the server would do it.</p>
      )}
      {real.isError && <Failed error={real.error} />}
      <button
        type="button"
        className="button button-main"
        disabled={!dryRun.isSuccess || real.isPending}
        onClick={() => real.mutate()}
      >
        Create {runtime}
        {allowed}
      </button>
      <CommandLine command={commandOf(tenant, body)} />
    </div>
  );
}

/** The same for the command line. */
export function commandOf(tenant: string, body: Schemas["NewSharedRuntime"]): string {
  const label = Object.entries(body.controller ?? {}).map(([name, value]) => `${name}=${value}`);
  const reserve = Object.entries(body.counts ?? {}).map(([role, many]) => `--reserve ${role}=${many}`);
  const where = `--controller ${label[0] ?? "any"}`;
  const what = `--app ${body.app} --version ${body.version} --environment ${body.environment}`;
  const whose = `--tenant ${tenant} --project ${body.project}`;
  return [
    `bailiwick shared create ${body.runtime} ${whose} ${what} ${where}`,
    ...reserve,
    `--accept ${body.accepted_digest}`,
  ].join(" ");
}
