import { useQuery } from "@tanstack/react-query";
import { api, ask, type Schemas } from "@/api/client";
import { allRows, useRows } from "@/api/rows";

export type Cell = Schemas["CellShown"];
export type GlobalRequest = Schemas["GlobalShown"];

/** When a cell last replied, and what is free there, no record tells: it is asked for. */
const ASKED_EVERY_MS = 10_000;

/** A home has no more (docs/cells.md). */
const CELLS_MAX = 1_024;

export function useCells() {
  return useQuery({
    queryKey: ["cells", "all"],
    refetchInterval: ASKED_EVERY_MS,
    queryFn: async () => {
      const fetchPage = (page: { cursor?: string; limit: number }) =>
        ask(api.GET("/v1/cells", { params: { query: page } }));
      return (await allRows<Cell>(fetchPage, CELLS_MAX)).rows;
    },
  });
}

export function useCell(cell: string) {
  return useQuery({
    queryKey: ["cells", "one", cell],
    refetchInterval: ASKED_EVERY_MS,
    queryFn: () => ask(api.GET("/v1/cells/{cell}", { params: { path: { cell } } })),
  });
}

/** The requests to all cells that the reader may see. */
export function useGlobalRequests() {
  return useRows(["cells", "requests"], (page) =>
    ask(api.GET("/v1/global/requests", { params: { query: page } })),
  );
}

export function partWith(cell: string, lost: boolean, dryRun: boolean) {
  const params = { path: { cell }, query: { dry_run: String(dryRun) } };
  return ask(api.POST("/v1/cells/{cell}/leave", { params, body: { lost } }));
}
