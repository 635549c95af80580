import { useQuery } from "@tanstack/react-query";
import { api, ask, askMaybe, type Schemas } from "@/api/client";
import { allRows } from "@/api/rows";
import type { Picture } from "./picture";

export const NODES_DRAWN_MAX = 20_000;

/** All nodes with all that is known of each; who wants less takes the picture. */
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

/** A picture that is as before is not sent again: the page shows which one it has. */
let last: { etag: string; picture: Picture } | null = null;

async function fetchPicture(): Promise<Picture> {
  const known = last;
  const headers = known === null ? {} : { "If-None-Match": known.etag };
  const found = await api.GET("/v1/fleet/picture", { headers });
  if (found.response.status === 304 && known !== null) return known.picture;
  const picture = await ask(Promise.resolve(found));
  const etag = found.response.headers.get("ETag");
  last = etag === null ? null : { etag, picture };
  return picture;
}

export function usePicture() {
  return useQuery({
    queryKey: ["fleet", "picture"],
    // To compare columns of ten thousand nodes with those of before costs more than to draw them.
    structuralSharing: false,
    queryFn: fetchPicture,
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

/** A drain ends what runs there; a cordon only takes no more. */
export function setMode(name: string, mode: "draining" | "cordoned", dryRun: boolean) {
  const params = { path: { node: name }, query: { dry_run: String(dryRun) } };
  const body = { mode, reason: "operator_drain" as const, evict: true };
  return ask(api.PUT("/v1/nodes/{node}/mode", { params, body }));
}

/** Back to work by every mode that lies between, whichever it is in. */
export function openAgain(name: string, dryRun: boolean) {
  const params = { path: { node: name }, query: { dry_run: String(dryRun) } };
  return ask(api.POST("/v1/nodes/{node}/open", { params }));
}

/** Asked for when it is opened, and never again by itself: its text has the time in it. */
export function useTicket(name: string, isOpen: boolean) {
  return useQuery({
    queryKey: ["tickets", name],
    enabled: isOpen,
    staleTime: 0,
    gcTime: 0,
    queryFn: () => ask(api.GET("/v1/nodes/{node}/ticket", { params: { path: { node: name } } })),
  });
}

export function haveTested(name: string, dryRun: boolean) {
  const params = { path: { node: name }, query: { dry_run: String(dryRun) } };
  return ask(api.PUT("/v1/nodes/{node}/test", { params }));
}

export function cancelMig(name: string, dryRun: boolean) {
  const params = { path: { node: name }, query: { dry_run: String(dryRun) } };
  return ask(api.DELETE("/v1/nodes/{node}/mig", { params }));
}
