import { useQuery } from "@tanstack/react-query";
import { api, ask, askMaybe, type Schemas } from "@/api/client";
import { allRows } from "@/api/rows";

export const NODES_DRAWN_MAX = 20_000;

/** All nodes: the heat map and the palette want every one. */
export function useAllNodes() {
  return useQuery({
    queryKey: ["nodes", "all"],
    staleTime: 5_000,
    queryFn: async () => {
      const fetchPage = (page: { cursor?: string; limit: number }) =>
        ask(api.GET("/v1/nodes", { params: { query: page } }));
      return (await allRows<Schemas["Node"]>(fetchPage, NODES_DRAWN_MAX)).rows;
    },
  });
}

export function useNode(name: string) {
  return useQuery({
    queryKey: ["nodes", name],
    queryFn: () => ask(api.GET("/v1/nodes/{node}", { params: { path: { node: name } } })),
  });
}

export function useAttestation(name: string) {
  return useQuery({
    queryKey: ["nodes", name, "attestation"],
    queryFn: () =>
      askMaybe(api.GET("/v1/nodes/{node}/attestation", { params: { path: { node: name } } })),
  });
}

/** A drain ends what runs there; with `evict` false it only closes the node. */
export function setMode(
  name: string,
  mode: Schemas["NodeMode"],
  terms: { dryRun: boolean; evict?: boolean },
) {
  const params = { path: { node: name }, query: { dry_run: String(terms.dryRun) } };
  const body = { mode, reason: "operator_drain" as const, evict: terms.evict ?? true };
  return ask(api.PUT("/v1/nodes/{node}/mode", { params, body }));
}
