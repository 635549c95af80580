// One series: its rule, which of its times are booked, and why others cannot be yet.
import { useNavigate, useParams } from "@tanstack/react-router";
import type { Schemas } from "@/api/client";
import { may, useWho } from "@/app/who";
import { Action } from "@/parts/confirm";
import { DataTable, type Cell } from "@/parts/data-table";
import { PlaceLink } from "@/parts/links";
import { ObjectPage } from "@/parts/object-page";
import { Facts, Panel } from "@/parts/panel";
import { Empty, Loaded } from "@/parts/states";
import { When } from "@/parts/when";
import { count } from "@/words/amounts";
import { useSeries, withdrawSeries } from "./queries";
import { waitWords, wishWords } from "./wishes";

type Unbooked = Schemas["UnbookedTime"];

export function Page() {
  const path = useParams({ strict: false }) as { tenant: string; project: string; series: string };
  const query = useSeries(path);
  return <Loaded query={query}>{(found) => <SeriesView found={found} />}</Loaded>;
}

const UNBOOKED: Cell<Unbooked>[] = [
  { header: "from", cell: (row) => <When ms={row.starts_ms} /> },
  { header: "why not", cell: (row) => row.why || "it can be, and is at the leader's next look" },
  {
    header: "earliest",
    cell: (row) => (row.earliest_ms == null ? "-" : <When ms={row.earliest_ms} />),
  },
];

function SeriesView({ found }: { found: Schemas["SeriesStanding"] }) {
  const self = useWho();
  const navigate = useNavigate();
  const { tenant, project, series, wish } = found;
  const more = found.unbooked_more ?? 0;
  return (
    <ObjectPage
      noun="series"
      name={series}
      command={`bailiwick booking series show ${series} --tenant ${tenant} --project ${project}`}
      actions={
        may(self, "scheduler.booking.manage", found) && (
          <Action
            label="Withdraw it"
            title={`Withdraw ${series}?`}
            isBad
            change={(dryRun) => withdrawSeries(found, dryRun)}
            onDone={() => navigate({ to: "/bookings" })}
          >
            <p>
              Nothing is booked by it any more. What is ahead by it is off, and what is on goes on.
            </p>
          </Action>
        )
      }
    >
      <Panel title="What it keeps, and when">
        <Facts
          rows={[
            ["for", <PlaceLink tenant={tenant} project={project} />],
            ["rule", wish.rule],
            ["keeps", wishWords(wish)],
            ["unused nodes", `given back ${waitWords(wish.wait_ms)}`],
            ["booked ahead", `${wish.ahead_days ?? 28}d`],
            ["text", wish.text || null],
          ]}
        />
        {found.trouble && <p className="mt-2 text-bad">It is not booked: {found.trouble}</p>}
      </Panel>
      <Panel title="Booked" aside="or cancelled since" flush={found.booked_ms.length === 0}>
        {found.booked_ms.length === 0 ? (
          <Empty title="No time of it is booked" />
        ) : (
          <ul className="grid gap-x-6 gap-y-1 sm:grid-cols-2 xl:grid-cols-3">
            {found.booked_ms.map((ms) => (
              <li key={ms}>
                <When ms={ms} />
              </li>
            ))}
          </ul>
        )}
      </Panel>
      {found.unbooked.length > 0 && (
        <Panel title="Not booked" aside="tried again until it begins" flush>
          <DataTable
            label="Times that are not booked"
            cells={UNBOOKED}
            rows={found.unbooked}
            rowId={(row) => row.starts_ms}
          />
          {more > 0 && (
            <p className="border-t border-line px-4 py-2 text-muted">
              and {count(more)} more that are not booked
            </p>
          )}
        </Panel>
      )}
    </ObjectPage>
  );
}
