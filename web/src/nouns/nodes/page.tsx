// One node: what it has, how it stands, what runs there, and what an operator may do with it.
import { useParams } from "@tanstack/react-router";
import type { Schemas } from "@/api/client";
import { may, useWho } from "@/app/who";
import { LEASE_COLUMNS } from "@/nouns/leases/list";
import { useLeases } from "@/nouns/leases/queries";
import { Age } from "@/parts/age";
import { Badge } from "@/parts/badge";
import { Action } from "@/parts/confirm";
import { ModeOutlook } from "@/parts/consequence";
import { ObjectPage } from "@/parts/object-page";
import { Story } from "@/parts/story";
import { Facts, Panel } from "@/parts/panel";
import { RowList } from "@/parts/row-list";
import { Empty, Loaded } from "@/parts/states";
import { generation, milli, size, spell } from "@/words/amounts";
import { attestationTone, livenessTone, modeTone } from "@/words/tones";
import { HealthPanel } from "./health";
import { Planned } from "./planned";
import { openAgain, setMode, useAttestation, useNode } from "./queries";

type Node = Schemas["Node"];

export function Page() {
  const { id } = useParams({ strict: false }) as { id: string };
  const query = useNode(id);
  return <Loaded query={query}>{(node) => <NodeView node={node} />}</Loaded>;
}

function NodeView({ node }: { node: Node }) {
  const self = useWho();
  const leases = useLeases(node.node);
  const mayOperate = may(self, "scheduler.node.operate");
  return (
    <ObjectPage
      noun="node"
      name={node.node}
      state={
        <>
          <Badge word={node.mode} tone={modeTone(node.mode)} />
          {node.quarantined && <Badge word="quarantined" tone="bad" />}
          <Badge word={node.liveness} tone={livenessTone(node.liveness)} />
          <Badge word={node.attestation} tone={attestationTone(node.attestation)} />
        </>
      }
      command={`bailiwick node show ${node.node}`}
      actions={mayOperate && <Modes node={node} />}
    >
      <div className="grid gap-4 lg:grid-cols-2">
        <Panel title="What it has">
          <Facts
            rows={[
              ["cores", milli(node.resources.cpu_milli ?? 0)],
              ["memory", size(node.resources.mem_bytes ?? 0)],
              ["GPUs", <Devices node={node} />],
              ["GPUs held", node.gpus.length > 0 ? <Held node={node} /> : null],
              ["labels", node.labels.join(", ") || null],
            ]}
          />
        </Panel>
        <Panel title="How it stands">
          <Facts
            rows={[
              ["takes leases", node.takes_leases ? "yes" : "no"],
              ["last heard", <Age ms={node.last_seen_ms} />],
              ["agent", node.agent_version],
              ["runs jobs as", node.job_mode],
              ["attested", <Age ms={node.attested_ms} />],
            ]}
          />
          <Standing name={node.node} />
        </Panel>
      </div>
      {node.health != null && <HealthPanel node={node.node} health={node.health} />}
      <Planned node={node} />
      <Notes node={node} />
      <section aria-label="Leases on it" className="space-y-2">
        <h2 className="font-semibold">Leases on it</h2>
        <RowList
          label={`Leases on ${node.node}`}
          rows={leases}
          columns={LEASE_COLUMNS.filter((column) => column.id !== "node")}
          rowId={(lease) => lease.lease_id}
          empty={<Empty title="Nothing holds a part of it" />}
          heightMax="24rem"
        />
      </section>
      <Story of={{ subject: "node", name: node.node }} />
    </ObjectPage>
  );
}

function Devices({ node }: { node: Node }) {
  const kinds = new Map<string, number>();
  for (const gpu of node.gpus) {
    const name = `${gpu.model || generation(gpu.generation)}, ${size(gpu.vram_bytes ?? 0)}`;
    kinds.set(name, (kinds.get(name) ?? 0) + 1);
  }
  if (kinds.size === 0) return <span>none</span>;
  return [...kinds].map(([name, many]) => (
    <div key={name}>
      {many} x {name}
    </div>
  ));
}

/** Of each device, who holds it: of leases that the reader may see. */
function Held({ node }: { node: Node }) {
  return node.gpus.map((_, device) => (
    <div key={device}>
      {device}: {holders(node, device)}
    </div>
  ));
}

function holders(node: Node, device: number): string {
  const held = (node.holders ?? []).filter((each) => each.devices.includes(device));
  const told = held.map((each) => {
    const owner = each.project === null ? each.tenant : `${each.tenant}/${each.project}`;
    return each.device_milli === 1000 ? owner : `${milli(each.device_milli)} by ${owner}`;
  });
  return told.join(", ") || "-";
}

/** What operators wrote about it for each other; tenants are told none. */
function Notes({ node }: { node: Node }) {
  const notes = node.notes ?? [];
  if (notes.length === 0) return null;
  return (
    <Panel title="Notes">
      <ul className="space-y-1">
        {notes.map((each) => (
          <li key={each.note_id}>
            {each.text}{" "}
            <span className="text-muted">
              {each.author}, <Age ms={each.since_ms} />; expires <Age ms={each.until_ms} />
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Standing({ name }: { name: string }) {
  const found = useAttestation(name).data;
  if (!found || found.standing.length === 0) return null;
  return (
    <ul className="mt-3 space-y-1 border-t border-line pt-2">
      {found.standing.map((each) => (
        <li key={each.kind} className="flex items-center gap-2">
          <Badge word={each.verdict} tone={attestationTone(each.verdict)} /> {spell(each.kind)}
          {each.reason !== null && <span className="text-muted">{spell(each.reason)}</span>}
        </li>
      ))}
    </ul>
  );
}

function Modes({ node }: { node: Node }) {
  if (node.mode === "accepting") {
    return (
      <>
        <Action
          label="Cordon it"
          title={`Cordon ${node.node}?`}
          change={(dryRun) => setMode(node.node, "cordoned", dryRun)}
          tell={(answer) => <ModeOutlook found={answer.consequence} />}
        >
          <p>It takes no new leases. What runs there may be renewed, and ends by itself.</p>
        </Action>
        <Drain node={node} />
      </>
    );
  }
  if (node.mode === "fence_lost") return null;
  return (
    <>
      <Action
        label="Open it again"
        title={`Open ${node.node} again?`}
        change={(dryRun) => openAgain(node.node, dryRun)}
        tell={(answer) => <ModeOutlook found={answer.consequence} />}
      >
        <p>It takes leases again; where proof is asked of it, once it has proven itself.</p>
      </Action>
      {node.mode === "cordoned" && <Drain node={node} />}
    </>
  );
}

function Drain({ node }: { node: Node }) {
  return (
    <Action
      label="Drain it"
      title={`Drain ${node.node}?`}
      isBad
      change={(dryRun) => setMode(node.node, "draining", dryRun)}
      tell={(answer) => <ModeOutlook found={answer.consequence} />}
    >
      <p>It takes no new leases, and what runs there is warned and then ended.</p>
    </Action>
  );
}
