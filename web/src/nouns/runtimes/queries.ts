import { useQuery } from "@tanstack/react-query";
import { api, ask, type Schemas } from "@/api/client";

export interface Runtime {
  tenant: string;
  runtime: string;
}

export interface Part extends Runtime {
  project: string;
}

const dry = (dryRun: boolean) => ({ dry_run: String(dryRun) });
/** A change that is sent twice by a bad connection is made once. */
const once = () => ({ "Idempotency-Key": crypto.randomUUID() });

export function useRuntimeRows(tenant: string | null) {
  return useQuery({
    queryKey: ["runtimes", tenant],
    enabled: tenant !== null,
    queryFn: async () => {
      const params = { path: { tenant: tenant ?? "" }, query: { limit: 100 } };
      return (await ask(api.GET("/v1/tenants/{tenant}/runtimes", { params }))).items;
    },
  });
}

export function useRuntime(path: Runtime) {
  return useQuery({
    queryKey: ["runtimes", path.tenant, path.runtime],
    refetchInterval: 5_000,
    queryFn: () => ask(api.GET("/v1/tenants/{tenant}/runtimes/{runtime}", { params: { path } })),
  });
}

export function usePlacements(path: Runtime) {
  return useQuery({
    queryKey: ["runtimes", path.tenant, path.runtime, "placements"],
    refetchInterval: 5_000,
    queryFn: async () => {
      const params = { path, query: { limit: 200 } };
      const address = "/v1/tenants/{tenant}/runtimes/{runtime}/placements";
      return (await ask(api.GET(address, { params }))).items;
    },
  });
}

export function useSharedUsage(path: Runtime, fromMs: number, toMs: number) {
  return useQuery({
    queryKey: ["runtimes", path.tenant, path.runtime, "usage", fromMs, toMs],
    queryFn: () => {
      const params = { path, query: { from_ms: fromMs, to_ms: toMs } };
      return ask(api.GET("/v1/tenants/{tenant}/runtimes/{runtime}/usage", { params }));
    },
  });
}

export function askPlan(tenant: string, body: Schemas["SharedRuntimeWish"]) {
  const params = { path: { tenant } };
  return ask(api.POST("/v1/tenants/{tenant}/runtime-plans", { params, body }));
}

export function createRuntime(tenant: string, body: Schemas["NewSharedRuntime"], dryRun: boolean) {
  const params = { path: { tenant }, query: dry(dryRun) };
  return ask(api.POST("/v1/tenants/{tenant}/runtimes", { params, body, headers: once() }));
}

export function deleteRuntime(path: Runtime, dryRun: boolean) {
  const params = { path, query: dry(dryRun) };
  return ask(api.DELETE("/v1/tenants/{tenant}/runtimes/{runtime}", { params }));
}

// -- consents ---------------------------------------------------------------------------------

export function allowProject(path: Part, dryRun: boolean) {
  const address = "/v1/tenants/{tenant}/runtimes/{runtime}/attachments/{project}";
  return ask(api.PUT(address, { params: { path, query: dry(dryRun) } }));
}

export function endAttachment(path: Part, dryRun: boolean) {
  const address = "/v1/tenants/{tenant}/runtimes/{runtime}/attachments/{project}";
  return ask(api.DELETE(address, { params: { path, query: dry(dryRun) } }));
}

export function acceptPart(path: Part, dryRun: boolean) {
  const address = "/v1/tenants/{tenant}/runtimes/{runtime}/projects/{project}/attachment";
  return ask(api.PUT(address, { params: { path, query: dry(dryRun) } }));
}

export function leaveRuntime(path: Part, dryRun: boolean) {
  const address = "/v1/tenants/{tenant}/runtimes/{runtime}/projects/{project}/attachment";
  return ask(api.DELETE(address, { params: { path, query: dry(dryRun) } }));
}

// -- workers and queues -----------------------------------------------------------------------

export function changeWorker(path: Part, body: Schemas["WorkerChange"], dryRun: boolean) {
  const address = "/v1/tenants/{tenant}/runtimes/{runtime}/projects/{project}/workers";
  const params = { path, query: dry(dryRun) };
  return ask(api.POST(address, { params, body, headers: once() }));
}

export function setPolicy(
  path: Part & { policy: string },
  body: Schemas["NewSubmitPolicy"],
  dryRun: boolean,
) {
  const address = "/v1/tenants/{tenant}/runtimes/{runtime}/projects/{project}/policies/{policy}";
  return ask(api.PUT(address, { params: { path, query: dry(dryRun) }, body }));
}

export function endPolicy(path: Part & { policy: string }, dryRun: boolean) {
  const address = "/v1/tenants/{tenant}/runtimes/{runtime}/projects/{project}/policies/{policy}";
  return ask(api.DELETE(address, { params: { path, query: dry(dryRun) } }));
}

export function maySubmit(path: Part, body: Schemas["SubmitQuestion"]) {
  const address = "/v1/tenants/{tenant}/runtimes/{runtime}/projects/{project}/may-submit";
  return ask(api.POST(address, { params: { path }, body }));
}

/** The same key asks nothing anew: it goes on waiting. */
export function askRuntime(path: Part, argv: string[], key: string) {
  const address = "/v1/tenants/{tenant}/runtimes/{runtime}/projects/{project}/calls/read";
  const body = { argv, stdin: "", wait_s: 20, within_s: 120 };
  return ask(api.POST(address, { params: { path }, body, headers: { "Idempotency-Key": key } }));
}

// -- settlement -------------------------------------------------------------------------------

export function planSettlement(path: Runtime, body: Schemas["NewSettlement"]) {
  const address = "/v1/tenants/{tenant}/runtimes/{runtime}/settlement-plans";
  return ask(api.POST(address, { params: { path }, body }));
}

export function acceptSettlement(
  path: Runtime,
  body: Schemas["AcceptedSettlement"],
  dryRun: boolean,
) {
  const address = "/v1/tenants/{tenant}/runtimes/{runtime}/settlement";
  return ask(api.PUT(address, { params: { path, query: dry(dryRun) }, body }));
}
