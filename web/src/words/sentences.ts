// Sentences for closed words. Those of the server (`/v1/words`) are the same that the command line
// says; until they are there, the word itself is spelled.
import type { Schemas } from "@/api/client";
import { assertNever } from "./assert-never";
import { amount, count, generation, spell, span } from "./amounts";

type Remedy = Schemas["Remedy"];
type Denied = Schemas["QueueEntry"]["blockers"][number];

/** The one thing that would unblock a request. */
export function remedySentence(remedy: Remedy): string {
  const much = remedy.amount > 0 ? amount(remedy.unit, remedy.amount) : "";
  switch (remedy.remedy) {
    case "nothing_needed":
      return "Nothing is needed: it is next in line.";
    case "declare_generation":
      return "Name the GPU generation that it wants.";
    case "change_request":
      return much
        ? `Ask for less: ${much} less would do.`
        : "Change the request: waiting does not help.";
    case "change_policy":
      return "A policy forbids the nodes that would do; whoever keeps it can change it.";
    case "raise_quota":
      return `Raise the quota${much ? ` by ${much}` : ""}.`;
    case "raise_ceiling":
      return "Raise the ceiling of the quota (priority, class or term).";
    case "free_own_leases": {
      const ids = remedy.lease_ids ?? [];
      const which = ids.length > 0 ? ` (${ids.slice(0, 5).join(", ")})` : "";
      return `Release leases of your own${which}${much ? ` that hold ${much}` : ""}.`;
    }
    case "open_nodes":
      return `Open ${much || "nodes"} that are drained or in maintenance.`;
    case "wait_or_preempt":
      return `Wait until ${much ? `${much} are` : "room is"} free, or ask with a higher priority.`;
    default:
      return assertNever(remedy.remedy);
  }
}

/** What a request asks for, in words. */
export function askedSentence(asked: Schemas["Asked"]): string {
  const parts = [
    asked.gpu_count > 0
      ? `${amount("gpu_count", asked.gpu_count)} (${generation(asked.gpu_generation)})`
      : "",
    asked.cpu_milli > 0 ? amount("cpu_milli", asked.cpu_milli) : "",
    asked.mem_bytes > 0 ? amount("mem_bytes", asked.mem_bytes) : "",
    asked.block_bytes > 0 ? amount("block_bytes", asked.block_bytes) : "",
  ];
  const one = parts.filter((part) => part !== "").join(", ") || "a default share";
  return asked.gang_size > 1 ? `${asked.gang_size} times ${one}` : one;
}

/** A denial with its numbers: the word is spelled, and every number stands beside its name. */
export function denialNumbers(denied: Denied): [string, string][] {
  const rows: [string, string][] = [];
  for (const [name, value] of Object.entries(denied)) {
    if (name === "detail" || name === "reason" || value === null) continue;
    rows.push([spell(name), shown(name, value)]);
  }
  return rows;
}

function shown(name: string, value: unknown): string {
  if (typeof value === "number") return name.endsWith("_ms") ? span(value) : count(value);
  if (Array.isArray(value)) return value.join(", ");
  return typeof value === "string" ? spell(value) : JSON.stringify(value);
}

export function estimateSentence(estimate: Schemas["Estimate"], nowMs: number): string {
  switch (estimate.basis) {
    case "fits_now":
      return "It fits now.";
    case "reservation":
    case "victims":
    case "expiry":
      return estimate.starts_ms === null
        ? "No estimate yet."
        : `Likely in ${span(Math.max(0, Math.floor((estimate.starts_ms - nowMs) / 1_000) * 1_000))} (${spell(estimate.basis)}).`;
    case "waits_for_quota":
      return "Waits for quota; no time can be told.";
    case "beyond_horizon":
      return "Later than the scheduler looks ahead.";
    case "waiting_does_not_help":
      return "Waiting does not help.";
    default:
      return assertNever(estimate.basis);
  }
}
