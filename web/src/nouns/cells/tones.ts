import type { Schemas } from "@/api/client";
import { assertNever } from "@/words/assert-never";
import type { Tone } from "@/words/tones";

export function standingTone(standing: Schemas["CellStanding"]): Tone {
  switch (standing) {
    case "reachable":
      return "good";
    case "cut_off":
      return "bad";
    default:
      return assertNever(standing);
  }
}

export function statusTone(status: Schemas["GlobalStatus"]): Tone {
  switch (status) {
    case "waiting":
      return "warn";
    case "sent":
    case "queued":
      return "info";
    case "held":
      return "good";
    case "withdrawn":
      return "quiet";
    default:
      return assertNever(status);
  }
}
