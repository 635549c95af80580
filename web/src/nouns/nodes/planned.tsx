// What is ahead on a node: its next maintenance, whose it is from when on, and what is made of its
// GPUs. Who booked it is told to who may read that booking; everybody is told the time.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Schemas } from "@/api/client";
import { may, mayAnywhere, useWho } from "@/app/who";
import { BookingLink } from "@/nouns/bookings/links";
import { useAllBookings } from "@/nouns/bookings/queries";
import { bookingTone } from "@/nouns/bookings/tones";
import { useAllWindows } from "@/nouns/maintenance/queries";
import { windowTone } from "@/nouns/maintenance/tones";
import { Age } from "@/parts/age";
import { Badge } from "@/parts/badge";
import { Action } from "@/parts/confirm";
import { PlaceLink } from "@/parts/links";
import { Facts, Panel } from "@/parts/panel";
import { When } from "@/parts/when";
import { useSentences } from "@/words/server-words";
import { nextOn } from "./ahead";
import { cancelMig } from "./queries";
import { migTone } from "./tones";

type Node = Schemas["Node"];
type Mig = Schemas["NodeMig"];

export function Planned({ node }: { node: Node }) {
  const rows: [string, ReactNode][] = [];
  if (node.maintained_ms != null) rows.push(["maintained", <Maintained node={node} />]);
  if (node.booked_ms != null) rows.push(["booked", <Booked node={node} />]);
  if (node.mig != null) rows.push(["repartitioning", <Dividing node={node} mig={node.mig} />]);
  if (rows.length === 0) return null;
  return (
    <Panel title="What is ahead">
      <Facts rows={rows} />
    </Panel>
  );
}

function Maintained({ node }: { node: Node }) {
  const found = nextOn(node.node, useAllWindows().data?.rows);
  if (found === null)
    return <>from {node.maintained_ms != null && <When ms={node.maintained_ms} />}</>;
  return (
    <>
      <div>
        from <When ms={found.starts_ms} /> until <When ms={found.ends_ms} isBare />
      </div>
      <div className="flex flex-wrap items-center gap-x-2 text-muted">
        <Link to="/maintenance/$window" params={{ window: found.window }} className="link">
          {found.window}
        </Link>{" "}
        <Badge word={found.phase} tone={windowTone(found.phase)} />
        {found.text !== "" && <span className="min-w-0 break-words">{found.text}</span>}
        {found.late.includes(node.node) && <span className="text-warn">not empty yet</span>}
      </div>
    </>
  );
}

function Booked({ node }: { node: Node }) {
  const self = useWho();
  const bookings = useAllBookings(null, mayAnywhere(self, "scheduler.booking.read"));
  const found = nextOn(node.node, bookings.data?.rows);
  const isThis = found !== null && found.starts_ms === node.booked_ms;
  return (
    <>
      <div>
        from {node.booked_ms != null && <When ms={node.booked_ms} />}
        {node.booked_until_ms != null && (
          <>
            {" "}
            until <When ms={node.booked_until_ms} isBare />
          </>
        )}
      </div>
      {isThis && (
        <div className="flex flex-wrap items-center gap-x-2 text-muted">
          <BookingLink row={found} /> <Badge word={found.phase} tone={bookingTone(found.phase)} />
          <span>
            for <PlaceLink tenant={found.tenant} project={found.project} />
          </span>
        </div>
      )}
    </>
  );
}

/** Which GPUs become what, in the command line's words. */
export function migWish({ gpus, profiles }: Pick<Mig, "gpus" | "profiles">): string {
  return `GPU ${gpus.join(", ")} into ${profiles.join(", ") || "one whole"}`;
}

function Dividing({ node, mig }: { node: Node; mig: Mig }) {
  const self = useWho();
  const sentences = useSentences();
  return (
    <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
      <span>{migWish(mig)}</span> <Badge word={mig.phase} tone={migTone(mig.phase)} />
      {mig.cause != null && <span>{sentences.word("mig_failure", mig.cause)}</span>}
      <span className="text-muted">
        begun <Age ms={mig.begun_ms} />
        {mig.phase === "repartitioning" && mig.due_ms != null && (
          <>
            ; its agent answers at most until <When ms={mig.due_ms} />
          </>
        )}
      </span>
      {mig.phase !== "failed" && may(self, "scheduler.node.operate") && (
        <Action
          label="Call it off"
          title={`Leave the GPUs of ${node.node} as they are?`}
          isBad
          change={(dryRun) => cancelMig(node.node, dryRun)}
        >
          <p>
            Who was told to go for it goes all the same. If the node is empty already, it stays
            closed until it is opened again.
          </p>
        </Action>
      )}
    </div>
  );
}
