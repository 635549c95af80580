// One lease: what is held, by whom, until when, and everything that happened to it.
import { useParams } from "@tanstack/react-router";
import type { Schemas } from "@/api/client";
import { Problem } from "@/api/problem";
import { may, useWho } from "@/app/who";
import { Age } from "@/parts/age";
import { Badge } from "@/parts/badge";
import { Action } from "@/parts/confirm";
import { NodeLink, PlaceLink } from "@/parts/links";
import { ObjectPage } from "@/parts/object-page";
import { Facts, Panel } from "@/parts/panel";
import { Loaded } from "@/parts/states";
import { amount } from "@/words/amounts";
import { leaseTone, priorityTone } from "@/words/tones";
import { LeaseHistory } from "./history";
import { releaseLease, useLease } from "./queries";

export function Page() {
  const { id } = useParams({ strict: false }) as { id: string };
  const query = useLease(Number(id));
  const isGone = query.error instanceof Problem && query.error.code === "not_found";
  if (isGone) return <EndedLease id={Number(id)} />;
  return <Loaded query={query}>{(lease) => <LeaseView lease={lease} />}</Loaded>;
}

/** A lease that ended is no more in the state, but the journal has all of it. */
function EndedLease({ id }: { id: number }) {
  return (
    <ObjectPage
      noun="lease"
      name={String(id)}
      state={<Badge word="not held now" tone="quiet" />}
      command={`bailiwick explain lease-${id}`}
    >
      <LeaseHistory leaseId={id} />
    </ObjectPage>
  );
}

function LeaseView({ lease }: { lease: Schemas["Lease"] }) {
  const self = useWho();
  const held = Object.entries(lease.resources).filter(([, value]) => (value ?? 0) > 0);
  return (
    <ObjectPage
      noun="lease"
      name={String(lease.lease_id)}
      state={<Badge word={lease.state} tone={leaseTone(lease.state)} />}
      command={`bailiwick explain lease-${lease.lease_id}`}
      actions={
        may(self, "scheduler.lease.hold", lease) && (
          <Action
            label="Release it"
            title={`Release lease ${lease.lease_id}?`}
            isBad
            change={(dryRun) => releaseLease(lease.lease_id, dryRun)}
          >
            <p>
              What runs on {lease.node} under this lease is ended, and its resources go back to the
              fleet.
            </p>
          </Action>
        )
      }
    >
      <div className="grid gap-4 lg:grid-cols-2">
        <Panel title="What is held">
          <Facts
            rows={[
              ["node", <NodeLink name={lease.node} />],
              [
                "holds",
                held.map(([unit, value]) => amount(unit, value ?? 0)).join(", ") || "nothing",
              ],
              ["devices", lease.devices.length > 0 ? lease.devices.join(", ") : "none"],
              ["gang", lease.gang === null ? "none" : lease.gang],
            ]}
          />
        </Panel>
        <Panel title="By whom, until when">
          <Facts
            rows={[
              ["project", <PlaceLink tenant={lease.tenant} project={lease.project} />],
              ["priority", <Badge word={lease.priority} tone={priorityTone(lease.priority)} />],
              ["class", lease.lease_class],
              ["granted", <Age ms={lease.granted_ms} />],
              ["ends", <Age ms={lease.expires_ms} />],
              ["generation", lease.generation],
            ]}
          />
        </Panel>
      </div>
      <LeaseHistory leaseId={lease.lease_id} />
    </ObjectPage>
  );
}
