// The fleet as one answer of columns, and what lies in each cell. Pure: columns in, cells and sums out.
import type { Schemas } from "@/api/client";

export type Picture = Schemas["Picture"];

/** One node with GPUs: its place in the columns, and where its cells begin. */
export interface Placed {
  node: number;
  first: number;
  gpus: readonly Schemas["HardwareGeneration"][];
}

export interface Cells {
  placed: Placed[];
  /** For each cell, the place of the lease that holds it; of several, the first; -1 if none does. */
  holder: Int32Array;
}

/** Every GPU as a cell: nodes by generation, then by name. */
export function cellsOf({ nodes, kinds, held }: Picture): Cells {
  const gpusOf = (node: number) => kinds[nodes.kind[node] ?? -1] ?? [];
  const groups = new Map<string, number[]>();
  nodes.node.forEach((_, node) => {
    const generation = gpusOf(node)[0];
    if (generation === undefined) return;
    const group = groups.get(generation);
    if (group === undefined) groups.set(generation, [node]);
    else group.push(node);
  });
  const placed: Placed[] = [];
  const firsts = new Int32Array(nodes.node.length).fill(-1);
  let many = 0;
  for (const generation of [...groups.keys()].sort()) {
    for (const node of groups.get(generation) ?? []) {
      const gpus = gpusOf(node);
      firsts[node] = many;
      placed.push({ node, first: many, gpus });
      many += gpus.length;
    }
  }
  const holder = new Int32Array(many).fill(-1);
  held.devices.forEach((devices, at) => {
    const first = firsts[held.node[at] ?? -1] ?? -1;
    for (let device = 0; first >= 0 && devices >> device > 0; device += 1)
      if ((devices >> device) & 1 && holder[first + device] === -1) holder[first + device] = at;
  });
  return { placed, holder };
}

/** Sums over the fleet. */
export function sumOf({ nodes, kinds, held }: Picture) {
  const gpus = nodes.kind.reduce((sum, kind) => sum + (kinds[kind]?.length ?? 0), 0);
  const taking = nodes.takes_leases.reduce((sum, takes) => sum + takes, 0);
  const leasedMilli = held.milli.reduce(
    (sum, milli, at) => sum + milli * bits(held.devices[at] ?? 0),
    0,
  );
  const percent = gpus === 0 ? 0 : Math.round(leasedMilli / gpus / 10);
  const all = nodes.node.length;
  return { gpus, nodes: all, taking, closed: all - taking, leasedMilli, percent };
}

function bits(devices: number): number {
  let many = 0;
  for (let rest = devices; rest > 0; rest &= rest - 1) many += 1;
  return many;
}

/** How many nodes stand how. */
export function attestationOf({ nodes, attestations }: Picture) {
  const counts = new Map<Schemas["AttestationState"], number>();
  for (const at of nodes.attestation) {
    const state = attestations[at];
    if (state !== undefined) counts.set(state, (counts.get(state) ?? 0) + 1);
  }
  return counts;
}
