import { useQuery } from "@tanstack/react-query";
import { api, ask, askMaybe, type Schemas } from "@/api/client";

export function useTenant(tenant: string) {
  return useQuery({
    queryKey: ["tenants", tenant],
    queryFn: () => ask(api.GET("/v1/tenants/{tenant}", { params: { path: { tenant } } })),
  });
}

export function useQuota(tenant: string | null, project: string | null) {
  return useQuery({
    queryKey: ["quota", tenant, project],
    enabled: tenant !== null,
    queryFn: (): Promise<Schemas["QuotaState"] | null> =>
      project === null
        ? askMaybe(
            api.GET("/v1/tenants/{tenant}/quota", { params: { path: { tenant: tenant ?? "" } } }),
          )
        : askMaybe(
            api.GET("/v1/tenants/{tenant}/projects/{project}/quota", {
              params: { path: { tenant: tenant ?? "", project } },
            }),
          ),
  });
}

/** The budget of a tenant or of a project of it; null where none is set. */
export function useBudget(tenant: string, project: string | null) {
  return useQuery({
    queryKey: ["budgets", tenant],
    queryFn: async () => {
      const params = { path: { tenant }, query: { limit: 100 } };
      return (await ask(api.GET("/v1/tenants/{tenant}/budgets", { params }))).items;
    },
    select: (rows): Schemas["BudgetStanding"] | null =>
      rows.find((row) => row.project === project) ?? null,
  });
}

export function useUsage(tenant: string | null) {
  return useQuery({
    queryKey: ["usage", tenant],
    enabled: tenant !== null,
    staleTime: 10_000,
    queryFn: () =>
      ask(api.GET("/v1/tenants/{tenant}/usage", { params: { path: { tenant: tenant ?? "" } } })),
  });
}

export function useMembers(tenant: string, project: string | null, isOn: boolean) {
  return useQuery({
    queryKey: ["members", tenant, project],
    enabled: isOn,
    queryFn: async () =>
      project === null
        ? (
            await ask(
              api.GET("/v1/tenants/{tenant}/members", {
                params: { path: { tenant }, query: { limit: 500 } },
              }),
            )
          ).items
        : (
            await ask(
              api.GET("/v1/tenants/{tenant}/projects/{project}/members", {
                params: { path: { tenant, project }, query: { limit: 500 } },
              }),
            )
          ).items,
  });
}

export function useRuntimes(tenant: string, isOn: boolean) {
  return useQuery({
    queryKey: ["runtimes", tenant],
    enabled: isOn,
    queryFn: async () =>
      (
        await ask(
          api.GET("/v1/tenants/{tenant}/runtimes", {
            params: { path: { tenant }, query: { limit: 100 } },
          }),
        )
      ).items,
  });
}
