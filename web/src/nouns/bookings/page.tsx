// One booking: for whom, from when until when, which nodes, and what of them was given back.
import { useNavigate, useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { may, useWho } from "@/app/who";
import { Badge } from "@/parts/badge";
import { Action } from "@/parts/confirm";
import { PlaceLink } from "@/parts/links";
import { NodeNames } from "@/parts/names";
import { ObjectPage } from "@/parts/object-page";
import { Facts, Panel } from "@/parts/panel";
import { Loaded } from "@/parts/states";
import { When } from "@/parts/when";
import { count } from "@/words/amounts";
import { SeriesLink } from "./links";
import { cancelBooking, useBooking, type Booking } from "./queries";
import { bookingTone } from "./tones";
import { waitWords, wishWords } from "./wishes";

export function Page() {
  const path = useParams({ strict: false }) as {
    tenant: string;
    project: string;
    booking: string;
  };
  const query = useBooking(path);
  return <Loaded query={query}>{(found) => <BookingView found={found} />}</Loaded>;
}

function BookingView({ found }: { found: Booking }) {
  const self = useWho();
  const navigate = useNavigate();
  const { tenant, project, booking, series, asked } = found;
  return (
    <ObjectPage
      noun="booking"
      name={booking}
      state={<Badge word={found.phase} tone={bookingTone(found.phase)} />}
      command={`bailiwick booking show ${booking} --tenant ${tenant} --project ${project}`}
      actions={
        may(self, "scheduler.booking.manage", found) && (
          <Action
            label="Cancel it"
            title={`Cancel ${booking}?`}
            isBad
            change={(dryRun) => cancelBooking(found, dryRun)}
            onDone={() => navigate({ to: "/bookings" })}
          >
            <p>
              Others may have its nodes then.
              {found.phase === "on" && " What runs there goes on to the end of its term."}
              {series !== null && " This time of the series is not booked again."}
            </p>
          </Action>
        )
      }
    >
      <div className="grid gap-4 lg:grid-cols-2">
        <Panel title="For whom, and when">
          <Facts
            rows={[
              ["for", <PlaceLink tenant={tenant} project={project} />],
              ["from", <When ms={found.starts_ms} />],
              ["until", <When ms={found.ends_ms} />],
              ["series", series && <SeriesLink {...{ tenant, project, series }} />],
              ["text", asked.text || null],
            ]}
          />
        </Panel>
        <Panel title="Which nodes">
          <Facts rows={nodeRows(found)} />
        </Panel>
      </div>
    </ObjectPage>
  );
}

function nodeRows(found: Booking): [string, ReactNode][] {
  const rows: [string, ReactNode][] = [
    ["asked for", wishWords(found.asked)],
    ["nodes", <NodeNames names={found.nodes} />],
    ["GPUs", count(found.gpu_count)],
    ["unused nodes", `given back ${waitWords(found.asked.wait_ms)}`],
    ["given back", <NodeNames names={found.given_back} />],
  ];
  if (found.lacking > 0) {
    const told = found.lacking === 1 ? "1 node" : `${count(found.lacking)} nodes`;
    rows.push(["take no work now", <span className="text-warn">{told}</span>]);
  }
  return rows;
}
