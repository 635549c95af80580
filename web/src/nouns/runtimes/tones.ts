// The colours of the words of apps and shared runtimes, and a money that keeps its small parts.
import type { Schemas } from "@/api/client";
import { count } from "@/words/amounts";
import { assertNever } from "@/words/assert-never";
import type { Tone } from "@/words/tones";

export function instanceTone(phase: Schemas["InstancePhase"]): Tone {
  switch (phase) {
    case "running":
      return "good";
    case "requested":
    case "provisioning":
    case "updating":
      return "info";
    case "degraded":
    case "deleting":
      return "warn";
    case "failed":
      return "bad";
    case "deleted":
      return "quiet";
    default:
      return assertNever(phase);
  }
}

export function memberTone(phase: Schemas["MemberPhase"]): Tone {
  switch (phase) {
    case "ready":
      return "good";
    case "requested":
    case "joining":
      return "info";
    case "draining":
      return "warn";
    case "failed":
      return "bad";
    case "removed":
      return "quiet";
    default:
      return assertNever(phase);
  }
}

export function attachmentTone(phase: Schemas["AttachmentPhase"]): Tone {
  switch (phase) {
    case "attached":
      return "good";
    case "requested":
      return "info";
    case "detaching":
      return "warn";
    case "detached":
      return "quiet";
    default:
      return assertNever(phase);
  }
}

export function contributionTone(phase: Schemas["ContributionPhase"]): Tone {
  switch (phase) {
    case "contributed":
      return "good";
    case "draining":
      return "warn";
    case "ended":
      return "quiet";
    default:
      return assertNever(phase);
  }
}

export function denialSentence(word: Schemas["SubmitDenial"]): string {
  switch (word) {
    case "runtime_leaving":
      return "the runtime is being deleted";
    case "not_attached":
      return "your project has no part in it yet";
    case "owner_not_attached":
      return "the project whose queue it is has no part in it";
    case "policy_ended":
      return "the policy that let you has ended";
    case "no_policy":
      return "no policy of that project lets you";
    default:
      return assertNever(word);
  }
}

/** Money to the millionth where there is any, at least two decimals: a small price is not nothing. */
export function price(micros: number): string {
  const [sign, all] = micros < 0 ? ["-", -micros] : ["", micros];
  const part = String(all % 1_000_000).padStart(6, "0").replace(/0{1,4}$/, "");
  return `${sign}${count(Math.floor(all / 1_000_000))}.${part}`;
}
