// All nodes, with what they are, how they stand, and whether they are what they claim to be.
import { useState } from "react";
import type { Schemas } from "@/api/client";
import { Age } from "@/parts/age";
import { Badge } from "@/parts/badge";
import { NodeLink } from "@/parts/links";
import { PageHead } from "@/parts/object-page";
import { Empty, Loaded } from "@/parts/states";
import { VirtualTable, type Column } from "@/parts/table";
import { generation, milli, size } from "@/words/amounts";
import { attestationTone, livenessTone, modeTone } from "@/words/tones";
import { useAllNodes } from "./queries";

type Node = Schemas["Node"];

function gpus(node: Node): string {
  const first = node.gpus[0];
  return first === undefined ? "" : `${node.gpus.length} x ${generation(first.generation)}`;
}

const COLUMNS: Column<Node>[] = [
  {
    id: "node",
    header: "node",
    width: "minmax(10rem,1fr)",
    cell: (node) => <NodeLink name={node.node} />,
  },
  {
    id: "mode",
    header: "mode",
    width: "8rem",
    cell: (node) => (
      <Badge
        word={node.quarantined ? "quarantined" : node.mode}
        tone={node.quarantined ? "bad" : modeTone(node.mode)}
      />
    ),
  },
  {
    id: "liveness",
    header: "heard",
    width: "6rem",
    cell: (node) => <Badge word={node.liveness} tone={livenessTone(node.liveness)} />,
  },
  {
    id: "attestation",
    header: "attestation",
    width: "8rem",
    cell: (node) => <Badge word={node.attestation} tone={attestationTone(node.attestation)} />,
  },
  { id: "gpus", header: "GPUs", width: "minmax(10rem,1fr)", cell: gpus },
  {
    id: "cores",
    header: "cores",
    width: "5rem",
    align: "right",
    cell: (node) => milli(node.resources.cpu_milli ?? 0),
  },
  {
    id: "memory",
    header: "memory",
    width: "6rem",
    align: "right",
    cell: (node) => size(node.resources.mem_bytes ?? 0),
  },
  {
    id: "labels",
    header: "labels",
    width: "minmax(9rem,1fr)",
    cell: (node) => node.labels.join(" "),
  },
  {
    id: "seen",
    header: "last heard",
    width: "7rem",
    align: "right",
    cell: (node) => <Age ms={node.last_seen_ms} />,
  },
];

export function Page() {
  const [text, setText] = useState("");
  const query = useAllNodes();
  return (
    <>
      <PageHead title="Nodes">
        <input
          className="field w-56"
          placeholder="name, label, generation"
          aria-label="Filter nodes"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </PageHead>
      <Loaded query={query} lines={8}>
        {(nodes) => {
          const shown = nodes.filter((node) => matches(node, text));
          return (
            <div className="panel">
              {shown.length === 0 ? (
                <Empty
                  title={nodes.length === 0 ? "No node has joined yet" : "No node is like that"}
                >
                  {nodes.length === 0 && (
                    <>
                      On a machine: <code className="font-mono text-xs">bailiwick agent</code>
                    </>
                  )}
                </Empty>
              ) : (
                <VirtualTable
                  label="Nodes"
                  columns={COLUMNS}
                  rows={shown}
                  rowId={(node) => node.node}
                />
              )}
            </div>
          );
        }}
      </Loaded>
    </>
  );
}

export function matches(node: Node, text: string): boolean {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return true;
  const words = [node.node, node.mode, ...node.labels, ...node.gpus.map((gpu) => gpu.generation)];
  return words.some((word) => word.toLowerCase().includes(wanted));
}
