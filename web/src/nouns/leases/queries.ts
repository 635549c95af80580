import { useQuery } from "@tanstack/react-query";
import { api, ask } from "@/api/client";
import { useRows } from "@/api/rows";

export function useLeases(node?: string) {
  const wanted = node === undefined ? {} : { node };
  return useRows(["leases", wanted], (page) =>
    ask(api.GET("/v1/leases", { params: { query: { ...wanted, ...page } } })),
  );
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
