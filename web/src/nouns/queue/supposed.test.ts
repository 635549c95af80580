import { expect, it } from "vitest";
import type { Schemas } from "@/api/client";
import { quotaSlider, supposedOf } from "./supposed";

const still = { quota: 0, nodes: 0, generation: "" } as const;

function entry(parts: object): Schemas["QueueEntry"] {
  return { blockers: [], request: { gpu_count: 0 }, ...parts } as unknown as Schemas["QueueEntry"];
}

it("what is not moved is not supposed", () => {
  expect(supposedOf(still, quotaSlider(entry({})))).toEqual({});
});

it("a slider counts in what stands in the way", () => {
  const memory = quotaSlider(entry({ blockers: [{ dimension: "mem_bytes" }] }));
  expect(memory.unit).toBe("mem_bytes");
  expect(supposedOf({ ...still, quota: 2 }, memory)).toEqual({ quota: { mem_bytes: 2 ** 34 } });
  expect(quotaSlider(entry({ request: { gpu_count: 2 } })).unit).toBe("gpu_count");
});

it("nodes and a generation are told as they are", () => {
  const moved = { quota: 0, nodes: 3, generation: "nvidia_hopper" } as const;
  expect(supposedOf(moved, quotaSlider(entry({})))).toEqual({ nodes: 3, generation: "nvidia_hopper" });
});
