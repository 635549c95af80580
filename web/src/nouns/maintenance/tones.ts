import type { Schemas } from "@/api/client";
import { assertNever } from "@/words/assert-never";
import type { Tone } from "@/words/tones";

export function windowTone(phase: Schemas["WindowPhase"]): Tone {
  switch (phase) {
    case "planned":
      return "quiet";
    case "closing":
      return "warn";
    case "open":
      return "info";
    default:
      return assertNever(phase);
  }
}
