// Spend over time, from the meter's own sums: which stretches of time are asked for, how their rows
// add up, and where a budget is heading. Money is whole micros throughout.
import type { Schemas } from "@/api/client";
import { generation, spell } from "@/words/amounts";
import { assertNever } from "@/words/assert-never";

type UsageRow = Schemas["UsageRow"];

export type Range = "hours" | "days" | "months";
export type By = "project" | "tag" | "generation" | "class";

export interface Bucket {
  fromMs: number;
  toMs: number;
  label: string;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const COUNTS: Record<Range, number> = { hours: 24, days: 14, months: 6 };
const SERIES_MAX = 7;

const pad = (part: number) => String(part).padStart(2, "0");

/** Whole hours, days or months of UTC, as invoices have them; the last one has begun, and ends later. */
export function bucketsOf(range: Range, nowMs: number): Bucket[] {
  const many = COUNTS[range];
  return Array.from({ length: many }, (_, at) => bucketAt(range, nowMs, many - 1 - at));
}

function bucketAt(range: Range, nowMs: number, back: number): Bucket {
  const now = new Date(nowMs);
  switch (range) {
    case "hours": {
      const fromMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS - back * HOUR_MS;
      return { fromMs, toMs: fromMs + HOUR_MS, label: `${pad(new Date(fromMs).getUTCHours())}:00` };
    }
    case "days": {
      const fromMs = Math.floor(nowMs / DAY_MS) * DAY_MS - back * DAY_MS;
      const at = new Date(fromMs);
      const label = `${pad(at.getUTCMonth() + 1)}-${pad(at.getUTCDate())}`;
      return { fromMs, toMs: fromMs + DAY_MS, label };
    }
    case "months": {
      const begin = (months: number) => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 1);
      const at = new Date(begin(back));
      const label = `${at.getUTCFullYear()}-${pad(at.getUTCMonth() + 1)}`;
      return { fromMs: begin(back), toMs: begin(back - 1), label };
    }
    default:
      return assertNever(range);
  }
}

export function nameOf(row: UsageRow, by: By): string {
  switch (by) {
    case "project":
      return row.project ?? "no project";
    case "tag":
      return row.tag ?? "no tag";
    case "generation":
      return row.generation === null ? "no GPU" : generation(row.generation);
    case "class":
      return spell(row.lease_class);
    default:
      return assertNever(by);
  }
}

export interface Series {
  name: string;
  /** Micros, one for each bucket. */
  costs: number[];
  total: number;
}

/** One series for each name, the dearest first; what is beyond the first few is one more. */
export function seriesOf(rows: UsageRow[][], by: By): Series[] {
  const found = new Map<string, number[]>();
  for (const [at, bucket] of rows.entries()) {
    for (const row of bucket) {
      const name = nameOf(row, by);
      const costs = found.get(name) ?? rows.map(() => 0);
      costs[at] = (costs[at] ?? 0) + row.cost_micros;
      found.set(name, costs);
    }
  }
  const all = [...found].map(([name, costs]) => ({ name, costs, total: sum(costs) }));
  all.sort((one, other) => other.total - one.total || (one.name < other.name ? -1 : 1));
  if (all.length <= SERIES_MAX) return all;
  const rest = all.slice(SERIES_MAX - 1);
  const costs = rows.map((_, at) => sum(rest.map((series) => series.costs[at] ?? 0)));
  const told = { name: `${rest.length} others`, costs, total: sum(costs) };
  return [...all.slice(0, SERIES_MAX - 1), told];
}

export function sum(costs: number[]): number {
  return costs.reduce((total, cost) => total + cost, 0);
}

export interface Point {
  atMs: number;
  leftMicros: number;
}

export interface BurnDown {
  /** What was left, from the first bucket on; it ends with what is left now. */
  points: Point[];
  /** The same pace on, until it is used up or the budget ends; empty if nothing is spent. */
  ahead: Point[];
  /** Null if it lasts, as far as one can tell. */
  emptyMs: number | null;
  microsPerDay: number;
}

/** From what is left now back over what was spent, and on at the pace of these buckets. */
export function burnDown(
  standing: Pick<Schemas["BudgetStanding"], "left_micros" | "budget">,
  buckets: Bucket[],
  costs: number[],
  nowMs: number,
): BurnDown {
  const { from_ms: begunMs = 0, until_ms: endMs } = standing.budget;
  const points: Point[] = [{ atMs: nowMs, leftMicros: standing.left_micros }];
  let left = standing.left_micros;
  let spent = 0;
  let sinceMs = nowMs;
  for (let at = buckets.length - 1; at >= 0; at -= 1) {
    const bucket = buckets[at];
    if (bucket === undefined || bucket.toMs <= begunMs) break;
    spent += costs[at] ?? 0;
    left += costs[at] ?? 0;
    sinceMs = Math.max(bucket.fromMs, begunMs);
    points.unshift({ atMs: sinceMs, leftMicros: left });
  }
  const tookMs = nowMs - sinceMs;
  const pace = tookMs > 0 ? spent / tookMs : 0;
  const microsPerDay = Math.round(pace * DAY_MS);
  if (pace <= 0 || standing.left_micros <= 0) {
    const isOver = standing.left_micros <= 0;
    return { points, ahead: [], emptyMs: isOver ? nowMs : null, microsPerDay };
  }
  const emptyMs = nowMs + standing.left_micros / pace;
  const lasts = endMs !== null && endMs !== undefined && emptyMs > endMs;
  const stopMs = lasts ? endMs : emptyMs;
  const after = standing.left_micros - pace * (stopMs - nowMs);
  const ahead = [
    { atMs: nowMs, leftMicros: standing.left_micros },
    { atMs: Math.round(stopMs), leftMicros: Math.max(0, Math.round(after)) },
  ];
  return { points, ahead, emptyMs: lasts ? null : Math.round(emptyMs), microsPerDay };
}
