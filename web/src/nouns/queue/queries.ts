import { useQuery } from "@tanstack/react-query";
import { api, ask } from "@/api/client";
import { useRows } from "@/api/rows";

export function useQueue() {
  return useRows(["queue"], (page) => ask(api.GET("/v1/queue", { params: { query: page } })), {
    limit: 50,
  });
}

const HEAD_ROWS = 20;

/** The front of the line, for who looks at it beside other things; the rest as it is scrolled to. */
export function useQueueHead() {
  return useRows(
    ["queue", "head"],
    (page) => ask(api.GET("/v1/queue", { params: { query: page } })),
    { limit: HEAD_ROWS },
  );
}

export function useEntry(id: number) {
  return useQuery({
    queryKey: ["queue", id],
    queryFn: () => ask(api.GET("/v1/queue/{entry_id}", { params: { path: { entry_id: id } } })),
    refetchInterval: 5_000,
  });
}

export function cancelEntry(id: number, dryRun: boolean) {
  const params = { path: { entry_id: id }, query: { dry_run: String(dryRun) } };
  return ask(api.DELETE("/v1/queue/{entry_id}", { params }));
}
