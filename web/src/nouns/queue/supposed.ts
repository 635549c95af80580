// From the sliders to what the server is asked. Pure: what is not moved is not supposed.
import type { Schemas } from "@/api/client";

type Entry = Schemas["QueueEntry"];

export interface Sliders {
  quota: number;
  nodes: number;
  generation: Schemas["HardwareGeneration"] | "";
}

export interface QuotaSlider {
  unit: string;
  /** So much of the unit is one step of the slider. */
  step: number;
  most: number;
}

const GIB = 2 ** 30;
const STEPS: Record<string, [step: number, most: number]> = {
  gpu_count: [1, 64],
  cpu_milli: [1_000, 512],
  mem_bytes: [8 * GIB, 128],
  block_bytes: [64 * GIB, 128],
  gpu_vram: [8 * GIB, 128],
  lease_count: [1, 64],
};

/** Of what more quota could help: the dimension that stands in the way, else what it asks for. */
export function quotaSlider(entry: Entry): QuotaSlider {
  const denied = entry.blockers.find((each) => "dimension" in each);
  const asked = entry.request;
  let unit: string = (asked?.gpu_count ?? 0) > 0 ? "gpu_count" : "cpu_milli";
  if (denied !== undefined && "dimension" in denied) unit = denied.dimension;
  const [step, most] = STEPS[unit] ?? [1, 64];
  return { unit, step, most };
}

export function supposedOf(sliders: Sliders, quota: QuotaSlider): Schemas["Supposed"] {
  return {
    ...(sliders.quota > 0
      ? { quota: { [quota.unit]: sliders.quota * quota.step } }
      : {}),
    ...(sliders.nodes > 0 ? { nodes: sliders.nodes } : {}),
    ...(sliders.generation === "" ? {} : { generation: sliders.generation }),
  };
}
