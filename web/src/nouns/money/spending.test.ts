import { describe, expect, test } from "vitest";
import type { Schemas } from "@/api/client";
import { bucketsOf, burnDown, seriesOf, sum } from "./spending";

const NOW = Date.UTC(2026, 0, 15, 10, 30);
const DAY = 86_400_000;

function row(project: string | null, cost: number, tag: string | null = null): Schemas["UsageRow"] {
  return {
    ...{ project, tag, generation: null, lease_class: "standard", member: null },
    ...{ leases: 1, running: 0, gpu_micro_seconds: 0, cpu_milli_seconds: 0 },
    ...{ mem_mib_seconds: 0, block_mib_seconds: 0, cost_micros: cost },
  };
}

describe("stretches of time", () => {
  test("follow one another without a gap, and the last has begun", () => {
    for (const range of ["hours", "days", "months"] as const) {
      const found = bucketsOf(range, NOW);
      for (const [at, bucket] of found.slice(1).entries()) {
        expect(bucket.fromMs).toBe(found[at]?.toMs);
      }
      const last = found.at(-1);
      expect(last && last.fromMs <= NOW && NOW < last.toMs).toBe(true);
    }
    expect(bucketsOf("months", NOW).map((bucket) => bucket.label)[0]).toBe("2025-08");
  });
});

describe("series", () => {
  test("add up to all that was spent, whatever they are told apart by", () => {
    const rows = [
      [row("p", 3), row("q", 5, "night")],
      [row("q", 7), row(null, 1)],
    ];
    for (const by of ["project", "tag", "generation", "class"] as const) {
      const found = seriesOf(rows, by);
      expect(sum(found.map((series) => series.total))).toBe(16);
    }
    expect(seriesOf(rows, "project").map((series) => series.name)).toEqual(["q", "p", "no project"]);
    expect(seriesOf(rows, "project")[0]?.costs).toEqual([5, 7]);
  });

  test("beyond the first few are one, and nothing is lost", () => {
    const rows = [Array.from({ length: 20 }, (_, at) => row(`p${at}`, at + 1))];
    const found = seriesOf(rows, "project");
    expect(found).toHaveLength(7);
    expect(found.at(-1)?.name).toBe("14 others");
    expect(sum(found.map((series) => series.total))).toBe(210);
  });
});

describe("a budget", () => {
  const buckets = bucketsOf("days", NOW);
  const budget = { limit_micros: 1_000, from_ms: 0, until_ms: null, cap_micros: null, thresholds: [] };
  const even = buckets.map(() => 10);

  test("burns down to what is left now, and its pace says when it is used up", () => {
    const found = burnDown({ left_micros: 300, budget }, buckets, even, NOW);
    expect(found.points.at(-1)).toEqual({ atMs: NOW, leftMicros: 300 });
    expect(found.points[0]?.leftMicros).toBe(300 + 140);
    const days = ((found.emptyMs ?? 0) - NOW) / DAY;
    expect(days).toBeGreaterThan(28);
    expect(days).toBeLessThan(30);
    expect(found.ahead.at(-1)?.leftMicros).toBe(0);
  });

  test("that ends before it is used up lasts", () => {
    const short = { ...budget, until_ms: NOW + 5 * DAY };
    const found = burnDown({ left_micros: 300, budget: short }, buckets, even, NOW);
    expect(found.emptyMs).toBeNull();
    expect(found.ahead.at(-1)?.atMs).toBe(NOW + 5 * DAY);
    expect(found.ahead.at(-1)?.leftMicros).toBeGreaterThan(240);
  });

  test("is not older than itself, and of which nothing is spent no end is told", () => {
    const young = { ...budget, from_ms: NOW - 2 * DAY };
    const found = burnDown({ left_micros: 300, budget: young }, buckets, even, NOW);
    expect(found.points[0]?.atMs).toBe(NOW - 2 * DAY);
    const idle = burnDown({ left_micros: 300, budget }, buckets, buckets.map(() => 0), NOW);
    expect([idle.ahead, idle.emptyMs]).toEqual([[], null]);
    const spent = burnDown({ left_micros: -5, budget }, buckets, even, NOW);
    expect(spent.emptyMs).toBe(NOW);
  });
});
