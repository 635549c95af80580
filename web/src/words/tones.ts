// Which colour a closed word has. Every switch is exhaustive: a new word on the server does not
// compile here until somebody has thought of it.
import type { Schemas } from "@/api/client";
import { assertNever } from "./assert-never";

export type Tone = "good" | "warn" | "bad" | "info" | "quiet";

export function jobTone(phase: Schemas["JobPhase"]): Tone {
  switch (phase) {
    case "succeeded":
      return "good";
    case "running":
    case "starting":
      return "info";
    case "waiting":
    case "ending":
    case "preempted":
      return "warn";
    case "failed":
    case "refused":
    case "lost":
    case "expired":
      return "bad";
    case "cancelled":
      return "quiet";
    default:
      return assertNever(phase);
  }
}

export function leaseTone(state: Schemas["RevokeState"]): Tone {
  switch (state) {
    case "active":
      return "good";
    case "revoke_warning":
    case "grace_running":
    case "checkpoint_reported":
    case "forced_teardown":
      return "warn";
    case "torndown":
    case "expired":
      return "quiet";
    case "fenced":
    case "failed_closed":
      return "bad";
    default:
      return assertNever(state);
  }
}

export function reasonTone(reason: Schemas["PendingReason"]): Tone {
  switch (reason) {
    case "misconfigured":
    case "forbidden":
    case "exceeds_maximum":
      return "bad";
    case "waiting_for_quota":
    case "fragmented":
    case "waiting_for_capacity":
      return "warn";
    case "waiting_for_victims":
      return "info";
    case "not_yet_looked_at":
      return "quiet";
    default:
      return assertNever(reason);
  }
}

export function modeTone(mode: Schemas["NodeMode"]): Tone {
  switch (mode) {
    case "accepting":
      return "good";
    case "cordoned":
    case "draining":
    case "returning":
      return "warn";
    case "drained":
    case "maintenance":
      return "quiet";
    case "fence_lost":
      return "bad";
    default:
      return assertNever(mode);
  }
}

export function attestationTone(state: Schemas["AttestationState"]): Tone {
  switch (state) {
    case "trusted":
      return "good";
    case "untrusted":
      return "bad";
    case "stale":
      return "warn";
    case "unattested":
    case "unsupported":
      return "quiet";
    default:
      return assertNever(state);
  }
}

export function livenessTone(word: Schemas["Node"]["liveness"]): Tone {
  switch (word) {
    case "alive":
      return "good";
    case "late":
      return "warn";
    case "departed":
      return "bad";
    case "unheard":
      return "quiet";
    default:
      return assertNever(word);
  }
}

export function budgetTone(state: Schemas["BudgetState"]): Tone {
  switch (state) {
    case "healthy":
      return "good";
    case "low_balance":
    case "auto_release_pending":
      return "warn";
    case "depleted":
      return "bad";
    default:
      return assertNever(state);
  }
}

export function priorityTone(priority: Schemas["Priority"]): Tone {
  switch (priority) {
    case "critical":
      return "bad";
    case "high":
      return "warn";
    case "normal":
    case "low":
      return "quiet";
    default:
      return assertNever(priority);
  }
}
