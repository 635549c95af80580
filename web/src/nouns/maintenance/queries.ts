import { useQuery } from "@tanstack/react-query";
import { api, ask, type Schemas } from "@/api/client";
import { allRows, useRows } from "@/api/rows";

export type Window = Schemas["MaintenanceWindow"];
export type Calendar = Schemas["MaintenanceCalendar"];

const WINDOWS_MAX = 2_000;

type Page = { cursor?: string; limit: number };

const fetchWindows = (page: Page) =>
  ask(api.GET("/v1/maintenance/windows", { params: { query: page } }));

/** Every window that is planned or on, in the order in which they begin. */
export function useAllWindows(isOn = true) {
  return useQuery({
    queryKey: ["maintenance", "windows", "all"],
    enabled: isOn,
    queryFn: async () => {
      const { rows, isCut } = await allRows<Window>(fetchWindows, WINDOWS_MAX);
      return { rows: rows.sort((one, other) => one.starts_ms - other.starts_ms), isCut };
    },
  });
}

export function useWindow(window: string) {
  return useQuery({
    queryKey: ["maintenance", "windows", "one", window],
    queryFn: () =>
      ask(api.GET("/v1/maintenance/windows/{window}", { params: { path: { window } } })),
  });
}

export function useCalendars() {
  return useRows(["maintenance", "calendars"], (page) =>
    ask(api.GET("/v1/maintenance/calendars", { params: { query: page } })),
  );
}

export function cancelWindow(window: string, dryRun: boolean) {
  const params = { path: { window }, query: { dry_run: String(dryRun) } };
  return ask(api.DELETE("/v1/maintenance/windows/{window}", { params }));
}

export function withdrawCalendar(calendar: string, dryRun: boolean) {
  const params = { path: { calendar }, query: { dry_run: String(dryRun) } };
  return ask(api.DELETE("/v1/maintenance/calendars/{calendar}", { params }));
}
