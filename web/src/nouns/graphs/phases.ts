// The phases of tasks: their colours, their order, and how many of a stage are in each.
import type { Schemas } from "@/api/client";
import { assertNever } from "@/words/assert-never";
import type { Tone } from "@/words/tones";

export type TaskPhase = Schemas["TaskPhase"];

/** From what is over to what is to come. */
export const PHASES: TaskPhase[] = [
  "succeeded",
  "reused",
  "submitted",
  "backing_off",
  "ready",
  "blocked",
  "failed",
  "skipped",
  "cancelled",
];

export function taskTone(phase: TaskPhase): Tone {
  switch (phase) {
    case "succeeded":
    case "reused":
      return "good";
    case "submitted":
    case "ready":
      return "info";
    case "backing_off":
      return "warn";
    case "failed":
      return "bad";
    case "blocked":
    case "skipped":
    case "cancelled":
      return "quiet";
    default:
      return assertNever(phase);
  }
}

/** The colour of a part of a bar or of a cell; the word stands beside it. */
export const FILL: Record<Tone, string> = {
  good: "bg-good",
  info: "bg-info",
  warn: "bg-warn",
  bad: "bg-bad",
  quiet: "bg-strong",
};

export function graphTone(phase: Schemas["GraphPhase"]): Tone {
  switch (phase) {
    case "succeeded":
      return "good";
    case "running":
      return "info";
    case "cancelling":
      return "warn";
    case "failed":
      return "bad";
    case "cancelled":
      return "quiet";
    default:
      return assertNever(phase);
  }
}

/** How many tasks are in each phase, in the order above; phases that nobody is in are left out. */
export function phaseCounts(tasks: { phase: TaskPhase }[]): [TaskPhase, number][] {
  const found = new Map<TaskPhase, number>();
  for (const { phase } of tasks) found.set(phase, (found.get(phase) ?? 0) + 1);
  return PHASES.flatMap((phase) => {
    const many = found.get(phase);
    return many === undefined ? [] : [[phase, many] as [TaskPhase, number]];
  });
}

/** "3 succeeded, 1 failed". */
export function countsSentence(counts: [TaskPhase, number][]): string {
  return counts.map(([phase, many]) => `${many} ${phase.replaceAll("_", " ")}`).join(", ");
}
