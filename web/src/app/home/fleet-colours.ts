// Which colour every GPU of the fleet has. Colours of tenants are spread by their order, so that the
// same tenants have the same colours on every screen.
import type { Schemas } from "@/api/client";
import type { Paint, Strip } from "@/charts/heat-map";
import type { Cells, Picture, Placed } from "@/nouns/nodes/picture";
import { generation, spell } from "@/words/amounts";
import { assertNever } from "@/words/assert-never";

export type By = "tenant" | "class" | "state";
type Theme = "light" | "dark";

const HUES = [176, 262, 28, 212, 338, 88, 300, 46, 142, 12, 232, 110];
const LIGHT: Record<Theme, [number, number]> = { light: [58, 46], dark: [46, 62] };
const FREE = "free";

function hue(index: number, theme: Theme): string {
  const [saturation, lightness] = LIGHT[theme];
  const shift = Math.floor(index / HUES.length) * 9;
  return `hsl(${((HUES[index % HUES.length] ?? 0) + shift) % 360} ${saturation}% ${lightness}%)`;
}

const CLASSES: Schemas["LeaseClass"][] = ["guaranteed", "standard", "spot"];
const STATES = [
  "leased",
  "ending",
  "draining",
  "drained",
  "maintenance",
  "returning",
  "fence_lost",
  "quarantined",
  "cordoned",
];

function stateOf({ nodes, modes, held }: Picture, node: number, lease: number): string {
  if (nodes.quarantined[node]) return "quarantined";
  const mode = modes[nodes.mode[node] ?? -1];
  if (mode !== undefined && mode !== "accepting") return mode;
  if (lease < 0) return FREE;
  return held.ending[lease] ? "ending" : "leased";
}

function wordOf(picture: Picture, node: number, lease: number, by: By): string {
  const { held, tenants, lease_classes: classes } = picture;
  switch (by) {
    case "tenant":
      return tenants[held.tenant[lease] ?? -1] ?? FREE;
    case "class":
      return classes[held.lease_class[lease] ?? -1] ?? FREE;
    case "state":
      return stateOf(picture, node, lease);
    default:
      return assertNever(by);
  }
}

function wordsOf({ tenants }: Picture, by: By): string[] {
  if (by === "class") return CLASSES;
  return by === "state" ? STATES : tenants;
}

export interface LegendRow {
  name: string;
  colour: string | null;
  many: number;
}

/** A strip for each node with GPUs. */
export function stripsOf({ nodes }: Picture, { placed }: Cells): Strip[] {
  return placed.map(({ node, first, gpus }) => ({
    name: nodes.node[node] ?? "",
    first,
    cells: gpus.length,
  }));
}

/** The colour of every cell, and what the colours mean, in one pass. */
export function paintOf(picture: Picture, { placed, holder }: Cells, by: By, theme: Theme) {
  const words = wordsOf(picture, by);
  const places = new Map(words.map((word, at) => [word, at + 1]));
  const cells = new Uint16Array(holder.length);
  const counts = new Array<number>(words.length + 1).fill(0);
  for (const { node, first, gpus } of placed) {
    for (let at = first; at < first + gpus.length; at += 1) {
      const place = places.get(wordOf(picture, node, holder[at] ?? -1, by)) ?? 0;
      cells[at] = place;
      counts[place] = (counts[place] ?? 0) + 1;
    }
  }
  const paint: Paint = { colours: [null, ...words.map((_, at) => hue(at, theme))], cells };
  const legend: LegendRow[] = words
    .map((word, at) => ({ name: spell(word), colour: hue(at, theme), many: counts[at + 1] ?? 0 }))
    .filter((row) => row.many > 0);
  return { paint, legend: [...legend, { name: FREE, colour: null, many: counts[0] ?? 0 }] };
}

/** What a cell is, in words. */
export function toldOf(picture: Picture, place: Placed, cell: number, lease: number): string {
  const { nodes, held, tenants, lease_classes: classes, modes } = picture;
  const who =
    lease < 0
      ? FREE
      : `${tenants[held.tenant[lease] ?? -1]}, lease ${held.lease_id[lease]}, ${classes[held.lease_class[lease] ?? -1]}`;
  const mode = spell(modes[nodes.mode[place.node] ?? -1] ?? "");
  return `${nodes.node[place.node]}, GPU ${cell}\n${generation(place.gpus[cell])}\n${who}\n${mode}`;
}
