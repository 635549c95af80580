import type { Schemas } from "@/api/client";
import { assertNever } from "@/words/assert-never";
import type { Tone } from "@/words/tones";

export function lifeTone(word: Schemas["AppLifecycle"]): Tone {
  switch (word) {
    case "published":
      return "good";
    case "draft":
      return "info";
    case "deprecated":
      return "warn";
    case "retired":
      return "quiet";
    default:
      return assertNever(word);
  }
}

export function readinessTone(word: Schemas["Readiness"]): Tone {
  switch (word) {
    case "ready":
      return "good";
    case "not_ready":
      return "bad";
    case "undecided":
      return "warn";
    default:
      return assertNever(word);
  }
}
