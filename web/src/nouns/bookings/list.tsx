// Nodes that are kept for projects: bookings that are ahead or on, and the series they come by.
import { useMemo } from "react";
import { useScope } from "@/app/scope";
import { Age } from "@/parts/age";
import { Badge } from "@/parts/badge";
import { CommandLine } from "@/parts/copy";
import { PlaceLink } from "@/parts/links";
import { PageHead } from "@/parts/object-page";
import { RowList } from "@/parts/row-list";
import { Empty, Loaded } from "@/parts/states";
import { VirtualTable, type Column } from "@/parts/table";
import { When, WHEN_WIDTH } from "@/parts/when";
import { count } from "@/words/amounts";
import { BookingLink, SeriesLink } from "./links";
import { useAllBookings, useAllSeries, type Booking, type Series } from "./queries";
import { bookingTone } from "./tones";
import { wishWords } from "./wishes";

const COLUMNS: Column<Booking>[] = [
  {
    id: "booking",
    header: "booking",
    width: "minmax(10rem,1fr)",
    cell: (row) => <BookingLink row={row} />,
  },
  {
    id: "for",
    header: "for",
    width: "minmax(9rem,1fr)",
    cell: (row) => <PlaceLink tenant={row.tenant} project={row.project} />,
  },
  {
    id: "phase",
    header: "phase",
    width: "6rem",
    cell: (row) => <Badge word={row.phase} tone={bookingTone(row.phase)} />,
  },
  { id: "begins", header: "begins", width: "7.5rem", cell: (row) => <Age ms={row.starts_ms} /> },
  {
    id: "from",
    header: "from",
    width: WHEN_WIDTH,
    cell: (row) => <When ms={row.starts_ms} isBare />,
  },
  {
    id: "until",
    header: "until",
    width: WHEN_WIDTH,
    cell: (row) => <When ms={row.ends_ms} isBare />,
  },
  {
    id: "nodes",
    header: "nodes",
    width: "4.5rem",
    align: "right",
    cell: (row) => count(row.nodes.length),
  },
  {
    id: "gpus",
    header: "GPUs",
    width: "4.5rem",
    align: "right",
    cell: (row) => count(row.gpu_count),
  },
  {
    id: "back",
    header: "given back",
    width: "6rem",
    align: "right",
    cell: (row) => (row.given_back.length > 0 ? count(row.given_back.length) : "-"),
  },
];

const SERIES: Column<Series>[] = [
  {
    id: "series",
    header: "series",
    width: "minmax(10rem,1fr)",
    cell: (row) => <SeriesLink {...row} />,
  },
  {
    id: "for",
    header: "for",
    width: "minmax(9rem,1fr)",
    cell: (row) => <PlaceLink tenant={row.tenant} project={row.project} />,
  },
  {
    id: "rule",
    header: "rule",
    width: "minmax(22rem,2fr)",
    cell: (row) => <span title={row.wish.rule}>{row.wish.rule}</span>,
  },
  {
    id: "keeps",
    header: "keeps",
    width: "minmax(12rem,1fr)",
    cell: (row) => <span title={wishWords(row.wish)}>{wishWords(row.wish)}</span>,
  },
  {
    id: "booked",
    header: "booked",
    width: "5rem",
    align: "right",
    cell: (row) => count(row.booked_ms.length),
  },
];

export function Page() {
  const { tenant, project } = useScope().scope;
  const query = useAllBookings(tenant);
  const series = useAllSeries(tenant);
  const keep = useMemo(
    () => (row: { project: string }) => project === null || row.project === project,
    [project],
  );
  const place = [tenant, project].filter((part) => part !== null).join("/");
  return (
    <>
      <PageHead title={place === "" ? "Bookings" : `Bookings of ${place}`} />
      <div className="space-y-4">
        <Loaded query={query} lines={6}>
          {({ rows, isCut }) => {
            const shown = rows.filter(keep);
            return (
              <div className="panel">
                {shown.length === 0 ? (
                  <Empty title="Nothing is booked">
                    A booking keeps whole nodes for a project, from one time to another:{" "}
                    <code className="font-mono text-xs">bailiwick booking create</code>
                  </Empty>
                ) : (
                  <VirtualTable
                    label="Bookings"
                    columns={COLUMNS}
                    rows={shown}
                    rowId={(row) => `${row.tenant}/${row.project}/${row.booking}`}
                    heightMax="24rem"
                  />
                )}
                {isCut && (
                  <p className="border-t border-line px-4 py-2 text-xs text-muted">
                    There are more: <code className="font-mono">bailiwick booking list</code>
                  </p>
                )}
              </div>
            );
          }}
        </Loaded>
        <section aria-label="Series" className="space-y-2">
          <h2 className="font-semibold">Series</h2>
          <RowList
            label="Series of bookings"
            rows={series}
            columns={SERIES}
            rowId={(row) => `${row.tenant}/${row.project}/${row.series}`}
            keep={keep}
            empty={<Empty title="No series">Nodes are booked by hand alone.</Empty>}
            heightMax="24rem"
          />
        </section>
        <CommandLine
          command={`bailiwick booking list${tenant === null ? "" : ` --tenant ${tenant}`}`}
        />
      </div>
    </>
  );
}
