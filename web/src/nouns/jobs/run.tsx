// Run something: a small form with the plan beside it. The plan is made by the code that decides, on
// the state as it is, each time the form changes; nothing happens until the person submits.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useDeferredValue, useState, type ReactNode } from "react";
import { api, ask, type Schemas } from "@/api/client";
import { useProjects, useScope, useTenantNames } from "@/app/scope";
import { PageHead } from "@/parts/object-page";
import { Panel } from "@/parts/panel";
import { Failed } from "@/parts/states";
import { generation, spell } from "@/words/amounts";
import { JobFile } from "./job-file";
import { PlanView } from "./plan";
import { jobOf, joined, splitCommand, unseenOf, wishOf, type Wish } from "./wish";

type Outcome =
  Schemas["WouldGrant"] | Schemas["WouldPreempt"] | Schemas["WouldQueue"] | Schemas["WouldRefuse"];

const GENERATIONS = [
  "nvidia_volta",
  "nvidia_turing",
  "nvidia_ampere",
  "nvidia_ada",
  "nvidia_hopper",
  "nvidia_blackwell",
  "amd_mi200",
  "amd_mi300",
] as const;

export function Page() {
  const { scope } = useScope();
  const tenants = useTenantNames();
  const [wish, setWish] = useState<Wish>({
    tenant: scope.tenant ?? "",
    project: scope.project ?? "",
    command: "",
    name: "",
    cpus: "1",
    memory: "1",
    gpus: "0",
    generation: "",
    priority: "normal",
    leaseClass: "standard",
    hours: "1",
  });
  const set = (change: Partial<Wish>) => setWish({ ...wish, ...change });
  const tenant = wish.tenant || tenants[0] || "";
  const projects = useProjects(tenant === "" ? null : tenant).data ?? [];
  const project = wish.project || projects[0]?.project || "";
  const [unseen, setUnseen] = useState<Partial<Schemas["NewJob"]>>({});
  const body = joined(jobOf({ ...wish, tenant, project }), unseen);
  const client = useQueryClient();
  const navigate = useNavigate();
  const submit = useMutation({
    mutationFn: async () => {
      if (body === null) return null;
      const headers = { "Idempotency-Key": crypto.randomUUID() };
      return ask(api.POST("/v1/jobs", { body, headers }));
    },
    onSuccess: async (answer) => {
      await client.invalidateQueries({ queryKey: ["jobs"] });
      const id =
        answer !== null && typeof answer === "object" && "job_id" in answer
          ? String(answer.job_id)
          : null;
      if (id === null) await navigate({ to: "/jobs" });
      else await navigate({ to: "/jobs/$id", params: { id } });
    },
  });
  return (
    <>
      <PageHead title="Run something" />
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <Panel title="What">
          <form
            className="grid grid-cols-2 gap-3"
            onSubmit={(event) => {
              event.preventDefault();
              submit.mutate();
            }}
          >
            <JobFile
              tenant={tenant}
              project={project}
              use={(job) => {
                setWish(wishOf(job, wish));
                setUnseen(unseenOf(job));
              }}
            />
            <Field
              label="Command"
              wide
              hint="Words are kept apart by spaces; quotes keep them together."
            >
              <input
                className="field font-mono"
                required
                autoFocus
                spellCheck={false}
                value={wish.command}
                placeholder={`python3 -c "print('hello')"`}
                onChange={(event) => set({ command: event.target.value })}
              />
            </Field>
            <Field label="Tenant">
              <select
                className="field"
                value={tenant}
                onChange={(event) => set({ tenant: event.target.value, project: "" })}
              >
                {tenants.map((each) => (
                  <option key={each}>{each}</option>
                ))}
              </select>
            </Field>
            <Field label="Project">
              <select
                className="field"
                value={project}
                onChange={(event) => set({ project: event.target.value })}
              >
                {[
                  ...new Set([
                    ...projects.map((each) => each.project),
                    ...(project ? [project] : []),
                  ]),
                ].map((each) => (
                  <option key={each}>{each}</option>
                ))}
              </select>
            </Field>
            <NumberField label="CPU cores" value={wish.cpus} set={(cpus) => set({ cpus })} />
            <NumberField
              label="Memory, GiB"
              value={wish.memory}
              set={(memory) => set({ memory })}
            />
            <NumberField label="GPUs" value={wish.gpus} set={(gpus) => set({ gpus })} />
            <Field label="GPU generation">
              <select
                className="field"
                value={wish.generation}
                disabled={!(Number(wish.gpus) > 0)}
                onChange={(event) => set({ generation: event.target.value as Wish["generation"] })}
              >
                <option value="">any</option>
                {GENERATIONS.map((each) => (
                  <option key={each} value={each}>
                    {generation(each)}
                  </option>
                ))}
              </select>
            </Field>
            <Field label="Priority">
              <select
                className="field"
                value={wish.priority}
                onChange={(event) => set({ priority: event.target.value as Wish["priority"] })}
              >
                {(["low", "normal", "high", "critical"] as const).map((each) => (
                  <option key={each}>{each}</option>
                ))}
              </select>
            </Field>
            <Field label="Class">
              <select
                className="field"
                value={wish.leaseClass}
                onChange={(event) => set({ leaseClass: event.target.value as Wish["leaseClass"] })}
              >
                {(["guaranteed", "standard", "spot"] as const).map((each) => (
                  <option key={each}>{each}</option>
                ))}
              </select>
            </Field>
            <NumberField
              label="For at most, hours"
              value={wish.hours}
              set={(hours) => set({ hours })}
            />
            <Field label="Name (optional)">
              <input
                className="field"
                value={wish.name}
                onChange={(event) => set({ name: event.target.value })}
              />
            </Field>
            {Object.keys(unseen).length > 0 && (
              <p className="col-span-2 text-sm text-muted">
                Also from the file: {Object.keys(unseen).map(spell).join(", ")}.{" "}
                <button type="button" className="link" onClick={() => setUnseen({})}>
                  Leave that out
                </button>
              </p>
            )}
            <div className="col-span-2 space-y-2">
              {submit.isError && <Failed error={submit.error} />}
              <button
                type="submit"
                className="button button-main"
                disabled={body === null || submit.isPending}
              >
                Submit
              </button>
            </div>
          </form>
        </Panel>
        <Plan body={body} isTyped={splitCommand(wish.command).length > 0} />
      </div>
    </>
  );
}

/** The plan of a wish that is typed, a moment behind the typing. */
function Plan({ body, isTyped }: { body: Schemas["NewJob"] | null; isTyped: boolean }) {
  const key = useDeferredValue(JSON.stringify(body));
  const plan = useQuery({
    queryKey: ["plan", key],
    enabled: key !== "null",
    staleTime: 5_000,
    placeholderData: (before: Outcome | undefined) => before,
    queryFn: async () => {
      const params = { query: { dry_run: "true" } };
      const answer = await ask(
        api.POST("/v1/jobs", { params, body: JSON.parse(key) as Schemas["NewJob"] }),
      );
      return answer as unknown as Outcome;
    },
  });
  return (
    <Panel title="What would happen" aside={plan.isFetching ? "asking" : "a dry run"}>
      {!isTyped && (
        <p className="text-muted">
          Type a command, and the plan stands here: where, when, for how much.
        </p>
      )}
      {isTyped && plan.isError && <Failed error={plan.error} />}
      {isTyped && plan.data !== undefined && !plan.isError && <PlanView plan={plan.data} />}
    </Panel>
  );
}

function Field({
  label,
  hint,
  wide = false,
  children,
}: {
  label: string;
  hint?: string;
  wide?: boolean;
  children: ReactNode;
}) {
  return (
    <label className={`block space-y-1 ${wide ? "col-span-2" : ""}`}>
      <span className="font-medium">{label}</span>
      {children}
      {hint !== undefined && <span className="block text-xs text-muted">{hint}</span>}
    </label>
  );
}

function NumberField({
  label,
  value,
  set,
}: {
  label: string;
  value: string;
  set: (value: string) => void;
}) {
  return (
    <Field label={label}>
      <input
        type="number"
        min="0"
        step="any"
        className="field"
        value={value}
        onChange={(event) => set(event.target.value)}
      />
    </Field>
  );
}
