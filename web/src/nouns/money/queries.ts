import { useQueries, useQuery } from "@tanstack/react-query";
import { api, ask, type Schemas } from "@/api/client";
import type { Bucket } from "./spending";

/** What is over is asked for once; the stretch that runs, now and then. */
export function useSpend(tenant: string, buckets: Bucket[], nowMs: number) {
  return useQueries({
    queries: buckets.map(({ fromMs, toMs }) => ({
      queryKey: ["spend", tenant, fromMs, toMs],
      staleTime: toMs <= nowMs ? Infinity : 30_000,
      queryFn: () => {
        const query = { from_ms: fromMs, ...(toMs <= nowMs ? { to_ms: toMs } : {}) };
        const params = { path: { tenant }, query };
        return ask(api.GET("/v1/tenants/{tenant}/usage", { params }));
      },
    })),
    combine: (results) => {
      const found = results.map((result) => result.data);
      return {
        usages: found.every((usage) => usage !== undefined) ? (found as Schemas["Usage"][]) : null,
        error: results.find((result) => result.isError)?.error ?? null,
        done: found.filter((usage) => usage !== undefined).length,
      };
    },
  });
}

export function useBudgets(tenant: string, isOn: boolean) {
  return useQuery({
    queryKey: ["budgets", tenant],
    enabled: isOn,
    queryFn: async () => {
      const params = { path: { tenant }, query: { limit: 100 } };
      return (await ask(api.GET("/v1/tenants/{tenant}/budgets", { params }))).items;
    },
  });
}
