import { useQuery } from "@tanstack/react-query";
import { api, ask, type Schemas } from "@/api/client";
import { useRows } from "@/api/rows";
import { readManifest } from "./manifest";

export function useAppRows() {
  return useRows(["apps"], (page) => ask(api.GET("/v1/apps", { params: { query: page } })));
}

/** All apps, for a form to choose from. */
export function useApps() {
  return useQuery({
    queryKey: ["apps", "all"],
    queryFn: async () =>
      (await ask(api.GET("/v1/apps", { params: { query: { limit: 500 } } }))).items,
  });
}

export function useApp(app: string) {
  return useQuery({
    queryKey: ["apps", app],
    queryFn: () => ask(api.GET("/v1/apps/{app}", { params: { path: { app } } })),
  });
}

export function useVersions(app: string | null) {
  return useQuery({
    queryKey: ["apps", app, "versions"],
    enabled: app !== null,
    queryFn: async () => {
      const params = { path: { app: app ?? "" }, query: { limit: 200 } };
      return (await ask(api.GET("/v1/apps/{app}/versions", { params }))).items;
    },
  });
}

/** One version, with what its manifest says. A version stays what it is. */
export function useVersion(app: string | null, version: string | null) {
  return useQuery({
    queryKey: ["apps", app, "versions", version],
    enabled: app !== null && version !== null,
    queryFn: async () => {
      const params = { path: { app: app ?? "", version: version ?? "" } };
      const found = await ask(api.GET("/v1/apps/{app}/versions/{version}", { params }));
      return { ...found, read: readManifest(found.manifest) };
    },
  });
}

export function useEntitlements(isOn: boolean) {
  return useQuery({
    queryKey: ["entitlements"],
    enabled: isOn,
    queryFn: async () =>
      (await ask(api.GET("/v1/entitlements", { params: { query: { limit: 500 } } }))).items,
  });
}

/** What counts at a place, and from where each line comes. */
export function useEffective(place: Schemas["EntitlementPlace"] | null) {
  return useQuery({
    queryKey: ["entitlements", place],
    enabled: place !== null,
    queryFn: () => ask(api.POST("/v1/entitlements/explain", { body: place ?? { app: "" } })),
  });
}

export function setEntitlement(body: Schemas["EntitlementChange"], dryRun: boolean) {
  const params = { query: { dry_run: String(dryRun) } };
  return ask(api.PUT("/v1/entitlements", { params, body }));
}
