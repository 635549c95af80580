import { useQuery } from "@tanstack/react-query";
import { api, ask } from "@/api/client";
import { useRows } from "@/api/rows";

const EVERY_MS = 2_000;

export function useGraphs() {
  return useRows(["graphs"], (query) => ask(api.GET("/v1/graphs", { params: { query } })), {
    limit: 100,
  });
}

export function useGraph(id: number) {
  return useQuery({
    queryKey: ["graphs", id],
    queryFn: () => ask(api.GET("/v1/graphs/{graph_id}", { params: { path: { graph_id: id } } })),
    // Phases of tasks are rows, not records: the journal does not tell of them.
    refetchInterval: (query) => (query.state.data?.graph.ended_ms ? false : EVERY_MS),
  });
}

export function cancelGraph(id: number, dryRun: boolean) {
  const params = { path: { graph_id: id }, query: { dry_run: String(dryRun) } };
  return ask(api.DELETE("/v1/graphs/{graph_id}", { params }));
}

export function retryGraph(id: number, dryRun: boolean) {
  const params = { path: { graph_id: id }, query: { dry_run: String(dryRun) } };
  return ask(api.POST("/v1/graphs/{graph_id}/retry", { params, body: {} }));
}
