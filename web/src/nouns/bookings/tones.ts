import type { Schemas } from "@/api/client";
import { assertNever } from "@/words/assert-never";
import type { Tone } from "@/words/tones";

export function bookingTone(phase: Schemas["BookingPhase"]): Tone {
  switch (phase) {
    case "planned":
      return "quiet";
    case "on":
      return "good";
    default:
      return assertNever(phase);
  }
}
