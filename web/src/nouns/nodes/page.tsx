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
import { setMode, useAttestation, useNode } from "./queries";

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
          change={(dryRun) => setMode(node.node, "draining", { dryRun, evict: false })}
          tell={(answer) => <ModeOutlook found={answer.consequence} />}
        >
          <p>It takes no new leases. What runs there goes on until it ends by itself.</p>
        </Action>
        <Action
          label="Drain it"
          title={`Drain ${node.node}?`}
          isBad
          change={(dryRun) => setMode(node.node, "draining", { dryRun })}
          tell={(answer) => <ModeOutlook found={answer.consequence} />}
        >
          <p>It takes no new leases, and what runs there is warned and then ended.</p>
        </Action>
      </>
    );
  }
  if (node.mode === "draining" || node.mode === "drained" || node.mode === "maintenance") {
    return (
      <Action
        label="Let it return"
        title={`Let ${node.node} return?`}
        change={(dryRun) =>
          setMode(node.node, node.mode === "draining" ? "accepting" : "returning", { dryRun })
        }
        tell={(answer) => <ModeOutlook found={answer.consequence} />}
      >
        <p>It takes leases again once it is ready.</p>
      </Action>
    );
  }
  return null;
}
