// Which colour every GPU of the fleet has. Colours of tenants are spread by their order, so that the
// same tenants have the same colours on every screen.
import type { Schemas } from "@/api/client";
import type { Strip } from "@/charts/heat-map";
import { generation, spell } from "@/words/amounts";
import { assertNever } from "@/words/assert-never";

export type By = "tenant" | "class" | "state";
type Node = Schemas["Node"];
type Lease = Schemas["Lease"];
type Theme = "light" | "dark";

const HUES = [176, 262, 28, 212, 338, 88, 300, 46, 142, 12, 232, 110];
const LIGHT: Record<Theme, [number, number]> = { light: [58, 46], dark: [46, 62] };

function hue(index: number, theme: Theme): string {
  const [saturation, lightness] = LIGHT[theme];
  const shift = Math.floor(index / HUES.length) * 9;
  return `hsl(${((HUES[index % HUES.length] ?? 0) + shift) % 360} ${saturation}% ${lightness}%)`;
}

const CLASSES: Lease["lease_class"][] = ["guaranteed", "standard", "spot"];

function stateOf(node: Node, lease: Lease | undefined): string {
  if (node.quarantined) return "quarantined";
  if (node.mode !== "accepting") return node.mode;
  if (lease === undefined) return "free";
  return lease.state === "active" ? "leased" : "ending";
}

const STATES = [
  "leased",
  "ending",
  "draining",
  "drained",
  "maintenance",
  "returning",
  "fence_lost",
  "quarantined",
];

function wordOf(node: Node, lease: Lease | undefined, by: By): string {
  switch (by) {
    case "tenant":
      return lease?.tenant ?? "free";
    case "class":
      return lease?.lease_class ?? "free";
    case "state":
      return stateOf(node, lease);
    default:
      return assertNever(by);
  }
}

function wordsOf(leases: Lease[], by: By): string[] {
  if (by === "class") return CLASSES;
  if (by === "state") return STATES;
  return [...new Set(leases.map((lease) => lease.tenant))].sort();
}

/** The lease on each device of each node; of several on one device, the first. */
export function holders(leases: Lease[]): Map<string, Map<number, Lease>> {
  const found = new Map<string, Map<number, Lease>>();
  for (const lease of leases) {
    const devices = found.get(lease.node) ?? new Map<number, Lease>();
    found.set(lease.node, devices);
    for (const device of lease.devices) if (!devices.has(device)) devices.set(device, lease);
  }
  return found;
}

function ordered(nodes: Node[]): Node[] {
  const key = (node: Node) => `${node.gpus[0]?.generation ?? ""} ${node.node}`;
  return nodes
    .filter((node) => node.gpus.length > 0)
    .sort((one, other) => key(one).localeCompare(key(other)));
}

export function stripsOf(nodes: Node[], leases: Lease[], by: By, theme: Theme): Strip[] {
  const held = holders(leases);
  const colours = new Map(wordsOf(leases, by).map((word, at) => [word, hue(at, theme)]));
  return ordered(nodes).map((node) => {
    const devices = held.get(node.node);
    return {
      name: node.node,
      cells: node.gpus.map((_, at) => colours.get(wordOf(node, devices?.get(at), by)) ?? null),
      told: (cell) => toldOf(node, cell, devices?.get(cell)),
    };
  });
}

function toldOf(node: Node, cell: number, lease: Lease | undefined): string {
  const who =
    lease === undefined ? "free" : `${lease.tenant}, lease ${lease.lease_id}, ${lease.lease_class}`;
  return `${node.node}, GPU ${cell}\n${generation(node.gpus[cell]?.generation)}\n${who}\n${spell(node.mode)}`;
}

export function legendOf(nodes: Node[], leases: Lease[], by: By, theme: Theme) {
  const held = holders(leases);
  const words = wordsOf(leases, by);
  const counts = new Map<string, number>();
  for (const node of nodes) {
    const devices = held.get(node.node);
    node.gpus.forEach((_, at) => {
      const word = wordOf(node, devices?.get(at), by);
      counts.set(word, (counts.get(word) ?? 0) + 1);
    });
  }
  const rows = words.map((word, at) => ({
    name: spell(word),
    colour: hue(at, theme) as string | null,
    many: counts.get(word) ?? 0,
  }));
  return [
    ...rows.filter((row) => row.many > 0),
    { name: "free", colour: null, many: counts.get("free") ?? 0 },
  ];
}
