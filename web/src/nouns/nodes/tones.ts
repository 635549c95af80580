// Colours of the words of a node's health and of what is made of its GPUs.
import type { Schemas } from "@/api/client";
import { assertNever } from "@/words/assert-never";
import type { Tone } from "@/words/tones";

export function levelTone(level: Schemas["HealthLevel"]): Tone {
  switch (level) {
    case "fail":
      return "bad";
    case "warn":
      return "warn";
    default:
      return assertNever(level);
  }
}

export function outcomeTone(outcome: Schemas["NodeTestOutcome"]): Tone {
  switch (outcome) {
    case "passed":
      return "good";
    case "failed":
      return "bad";
    case "timed_out":
      return "warn";
    case "cancelled":
      return "quiet";
    default:
      return assertNever(outcome);
  }
}

export function migTone(phase: Schemas["MigPhase"]): Tone {
  switch (phase) {
    case "draining":
      return "warn";
    case "repartitioning":
      return "info";
    case "failed":
      return "bad";
    default:
      return assertNever(phase);
  }
}
