import { useQuery } from "@tanstack/react-query";
import { api, ask, type Schemas } from "@/api/client";
import { isGone } from "@/api/problem";
import { useRows } from "@/api/rows";

export interface Place {
  tenant: string;
  project: string;
}

export interface InstancePath extends Place {
  instance_id: number;
}

const dry = (dryRun: boolean) => ({ dry_run: String(dryRun) });
const once = () => ({ "Idempotency-Key": crypto.randomUUID() });
const ONE = "/v1/tenants/{tenant}/projects/{project}/instances/{instance_id}" as const;
/** Members come and go by the reconciler; not every step of theirs is in a record that one may watch. */
const EVERY_MS = 3_000;

export function useInstances({ tenant, project }: { tenant: string | null; project: string | null }) {
  const path = { tenant: tenant ?? "", project: project ?? "" };
  return useRows(
    ["instances", tenant, project],
    (query) =>
      ask(api.GET("/v1/tenants/{tenant}/projects/{project}/instances", { params: { path, query } })),
    { isOn: tenant !== null && project !== null },
  );
}

/** Every few seconds while it is there: what was deleted is not asked for for ever. */
const whileThere = (query: { state: { error: Error | null } }) =>
  isGone(query.state.error) ? false : EVERY_MS;

export function useInstance(path: InstancePath) {
  return useQuery({
    queryKey: ["instances", path],
    refetchInterval: whileThere,
    queryFn: () => ask(api.GET(ONE, { params: { path } })),
  });
}

export function useInstanceMembers(path: InstancePath, isOn = true) {
  return useQuery({
    queryKey: ["instances", path, "members"],
    refetchInterval: whileThere,
    enabled: isOn,
    queryFn: async () => {
      const params = { path, query: { limit: 200 } };
      return (await ask(api.GET(`${ONE}/members`, { params }))).items;
    },
  });
}

export function useOperations(path: InstancePath) {
  return useQuery({
    queryKey: ["instances", path, "operations"],
    refetchInterval: whileThere,
    queryFn: async () => {
      const params = { path, query: { limit: 50 } };
      return (await ask(api.GET(`${ONE}/operations`, { params }))).items;
    },
  });
}

export function useEndpoints(path: InstancePath, isOn: boolean) {
  return useQuery({
    queryKey: ["instances", path, "endpoints"],
    enabled: isOn,
    queryFn: async () => (await ask(api.GET(`${ONE}/endpoints`, { params: { path } }))).items,
  });
}

export function useToldUsage(path: InstancePath, isOn: boolean) {
  return useQuery({
    queryKey: ["instances", path, "usage"],
    enabled: isOn,
    queryFn: () => ask(api.GET(`${ONE}/usage`, { params: { path } })),
  });
}

/** The same key asks nothing anew: it goes on waiting. */
export function askInstance(path: InstancePath, argv: string[], key: string) {
  const headers = { "Idempotency-Key": key };
  const body = { argv, stdin: "", wait_s: 20, within_s: 120 };
  return ask(api.POST(`${ONE}/calls/read`, { params: { path }, body, headers }));
}

export function createInstance(path: Place, body: Schemas["NewInstance"], dryRun: boolean) {
  const params = { path, query: dry(dryRun) };
  const address = "/v1/tenants/{tenant}/projects/{project}/instances";
  return ask(api.POST(address, { params, body, headers: once() }));
}

export function changeInstance(
  path: InstancePath,
  body: Schemas["InstanceChange"],
  dryRun: boolean,
) {
  return ask(api.PATCH(ONE, { params: { path, query: dry(dryRun) }, body }));
}

export function deleteInstance(path: InstancePath, dryRun: boolean) {
  return ask(api.DELETE(ONE, { params: { path, query: dry(dryRun) } }));
}

export function changeMember(
  path: InstancePath,
  body: Schemas["InstanceMemberChange"],
  dryRun: boolean,
) {
  const params = { path, query: dry(dryRun) };
  return ask(api.POST(`${ONE}/members`, { params, body, headers: once() }));
}
