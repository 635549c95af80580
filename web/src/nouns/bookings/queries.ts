import { useQuery } from "@tanstack/react-query";
import { api, ask, type Schemas } from "@/api/client";
import { allRows, useRows } from "@/api/rows";

export type Booking = Schemas["ProjectBooking"];
export type Series = Schemas["ProjectSeries"];

const BOOKINGS_MAX = 2_000;

interface Place {
  tenant: string;
  project: string;
}

/** Bookings that are ahead or on, of those that the reader may see, the first to begin first. */
export function useAllBookings(tenant: string | null, isOn = true) {
  const wanted = tenant === null ? {} : { tenant };
  return useQuery({
    queryKey: ["bookings", "all", wanted],
    enabled: isOn,
    queryFn: async () => {
      const fetchPage = (page: { cursor?: string; limit: number }) =>
        ask(api.GET("/v1/bookings", { params: { query: { ...wanted, ...page } } }));
      const { rows, isCut } = await allRows<Booking>(fetchPage, BOOKINGS_MAX);
      return { rows: rows.sort((one, other) => one.starts_ms - other.starts_ms), isCut };
    },
  });
}

export function useBooking(path: Place & { booking: string }) {
  return useQuery({
    queryKey: ["bookings", "one", path],
    queryFn: () =>
      ask(
        api.GET("/v1/tenants/{tenant}/projects/{project}/bookings/{booking}", { params: { path } }),
      ),
  });
}

export function useAllSeries(tenant: string | null) {
  const wanted = tenant === null ? {} : { tenant };
  return useRows(["bookings", "series", wanted], (page) =>
    ask(api.GET("/v1/booking-series", { params: { query: { ...wanted, ...page } } })),
  );
}

export function useSeries(path: Place & { series: string }) {
  return useQuery({
    queryKey: ["bookings", "series", "one", path],
    queryFn: () =>
      ask(
        api.GET("/v1/tenants/{tenant}/projects/{project}/booking-series/{series}", {
          params: { path },
        }),
      ),
  });
}

export function cancelBooking({ tenant, project, booking }: Booking, dryRun: boolean) {
  const path = { tenant, project, booking };
  const params = { path, query: { dry_run: String(dryRun) } };
  return ask(api.DELETE("/v1/tenants/{tenant}/projects/{project}/bookings/{booking}", { params }));
}

export function withdrawSeries({ tenant, project, series }: Series, dryRun: boolean) {
  const path = { tenant, project, series };
  const params = { path, query: { dry_run: String(dryRun) } };
  return ask(
    api.DELETE("/v1/tenants/{tenant}/projects/{project}/booking-series/{series}", { params }),
  );
}
