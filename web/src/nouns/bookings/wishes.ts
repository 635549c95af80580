// What was asked for, in the command line's words (src/bailiwick/cli/bookings/options.py). Pure.
import type { Schemas } from "@/api/client";
import { count, span } from "@/words/amounts";

type Wish = Pick<
  Schemas["BookingWish"],
  "nodes" | "count" | "gpus" | "generation" | "labels" | "wait_ms"
>;

/** What is kept: nodes by name, or so many, or so many GPUs, and what narrows that. */
export function wishWords(wish: Wish): string {
  const names = wish.nodes ?? [];
  if (names.length > 0) return names.join(", ");
  const what = wish.count ? plural(wish.count, "node") : plural(wish.gpus ?? 0, "GPU");
  const narrower = wish.generation ? [wish.generation] : [];
  return [what, ...narrower, ...(wish.labels ?? [])].join(" ");
}

/** After how long a node that is not used is given back. */
export function waitWords(waitMs: number | null | undefined): string {
  if (waitMs === null || waitMs === undefined) return "as the settings say";
  return waitMs === 0 ? "never" : `after ${span(waitMs)} without use`;
}

function plural(number: number, noun: string): string {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}
