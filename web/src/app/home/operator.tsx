// An operator's home: the fleet as a picture, what waits, who starves, what is not trusted.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { api, ask, type Schemas } from "@/api/client";
import { attestationOf, sumOf, type Picture } from "@/nouns/nodes/picture";
import { usePicture } from "@/nouns/nodes/queries";
import { QUEUE_COLUMNS } from "@/nouns/queue/list";
import { useQueueHead } from "@/nouns/queue/queries";
import { Age } from "@/parts/age";
import { Badge } from "@/parts/badge";
import { PlaceLink } from "@/parts/links";
import { PageHead } from "@/parts/object-page";
import { Figure, Panel } from "@/parts/panel";
import { RowList } from "@/parts/row-list";
import { Empty } from "@/parts/states";
import { count, milli } from "@/words/amounts";
import { attestationTone } from "@/words/tones";
import { FleetMap } from "./fleet-map";
import { starving } from "./fleet-sums";


const NO_SUMS = { gpus: 0, nodes: 0, taking: 0, closed: 0, leasedMilli: 0, percent: 0 };

export default function OperatorHome() {
  const picture = usePicture();
  const queue = useQueueHead();
  // No news of the fleet move it: who leads changes only with the connection, and then all is asked.
  const replica = useQuery({
    queryKey: ["replica"],
    queryFn: () => ask(api.GET("/v1/replica")),
  });
  const drawn = picture.data;
  const sums = useMemo(() => (drawn === undefined ? NO_SUMS : sumOf(drawn)), [drawn]);
  return (
    <>
      <PageHead title="Fleet">
        {replica.data && (
          <span className="text-sm text-muted">
            {replica.data.name} is {replica.data.role}
          </span>
        )}
      </PageHead>
      <div className="mb-4 grid grid-cols-2 gap-3 lg:grid-cols-4">
        <Figure
          label="GPUs leased"
          value={`${milli(sums.leasedMilli)} of ${count(sums.gpus)}`}
          note={`${sums.percent}% of the fleet`}
        />
        <Figure
          label="Nodes that take leases"
          value={`${count(sums.taking)} of ${count(sums.nodes)}`}
          note={sums.closed === 0 ? "all open" : `${sums.closed} closed or quarantined`}
        />
        <Figure label="Leases" value={count(drawn?.leases ?? 0)} note="held now" />
        <Figure
          label="Waiting"
          value={count(drawn?.waiting ?? 0)}
          note={
            <Link to="/queue" className="link">
              see the queue
            </Link>
          }
        />
      </div>
      <FleetMap picture={picture} />
      <div className="mt-4 grid gap-4 lg:grid-cols-3">
        <section aria-label="The queue" className="min-w-0 space-y-2 lg:col-span-2">
          <h2 className="font-semibold">The queue</h2>
          <RowList
            label="Requests that wait"
            rows={queue}
            columns={QUEUE_COLUMNS}
            rowId={(entry) => entry.entry_id}
            empty={<Empty title="Nothing waits">Every request got what it asked for.</Empty>}
            heightMax="20rem"
          />
        </section>
        <div className="min-w-0 space-y-4">
          <Starving entries={queue.rows} />
          {drawn !== undefined && <Attestation picture={drawn} />}
        </div>
      </div>
    </>
  );
}

function Starving({ entries }: { entries: Schemas["QueueEntry"][] }) {
  const rows = starving(entries);
  return (
    <Panel title="Who waits longest">
      {rows.length === 0 && <p className="text-muted">Nobody.</p>}
      <ul className="space-y-1">
        {rows.map((row) => (
          <li key={row.tenant} className="flex justify-between gap-3">
            <span>
              <PlaceLink tenant={row.tenant} project={null} />{" "}
              <span className="text-muted">{row.waiting} waiting</span>
            </span>
            <Age ms={row.sinceMs} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Attestation({ picture }: { picture: Picture }) {
  const counts = useMemo(() => attestationOf(picture), [picture]);
  return (
    <Panel title="Attestation">
      <ul className="space-y-1">
        {[...counts].map(([state, many]) => (
          <li key={state} className="flex justify-between">
            <Badge word={state} tone={attestationTone(state)} /> {count(many)} nodes
          </li>
        ))}
      </ul>
    </Panel>
  );
}
