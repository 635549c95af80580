import { useQuery } from "@tanstack/react-query";
import { api, ask, type Schemas } from "@/api/client";
import { allRows, useRows } from "@/api/rows";

const LEASES_DRAWN_MAX = 20_000;

export function useLeases(node?: string) {
  const wanted = node === undefined ? {} : { node };
  return useRows(["leases", wanted], (page) =>
    ask(api.GET("/v1/leases", { params: { query: { ...wanted, ...page } } })),
  );
}

export function useAllLeases(isOn: boolean) {
  return useQuery({
    queryKey: ["leases", "all"],
    enabled: isOn,
    queryFn: () =>
      allRows<Schemas["Lease"]>(
        (page) => ask(api.GET("/v1/leases", { params: { query: page } })),
        LEASES_DRAWN_MAX,
      ),
  });
}

export function useLease(id: number) {
  return useQuery({
    queryKey: ["leases", id],
    queryFn: () => ask(api.GET("/v1/leases/{lease_id}", { params: { path: { lease_id: id } } })),
  });
}

export function useHistory(id: number) {
  return useQuery({
    queryKey: ["leases", id, "history"],
    queryFn: async () => {
      const params = { path: { lease_id: id }, query: { limit: 200 } };
      return (await ask(api.GET("/v1/leases/{lease_id}/explain", { params }))).items;
    },
  });
}

export function releaseLease(id: number, dryRun: boolean) {
  const params = { path: { lease_id: id }, query: { dry_run: String(dryRun) } };
  return ask(api.DELETE("/v1/leases/{lease_id}", { params }));
}
