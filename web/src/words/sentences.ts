// Sentences for closed words and their numbers: the server's texts (`/v1/words`), which the command
// line fills in alike. No network here.
import type { Schemas } from "@/api/client";
import { amount, generation, spell } from "./amounts";
import { fill, TemplateError, type Values } from "./template";

export type Denied = Schemas["QueueEntry"]["blockers"][number];

/** The lists of `/v1/words` that pages read from, with the closed words of each. */
export interface Closed {
  budget_state: Schemas["BudgetState"];
  denial: Denied["detail"];
  error_code: Schemas["ErrorCode"] | Schemas["EdgeCode"];
  estimate: Schemas["Estimate"]["basis"];
  filter_reason: Schemas["FilterReason"];
  job_fault: Schemas["JobFault"];
  mint_denial: Schemas["MintDenial"];
  pending_fix: Schemas["PendingReason"];
  pending_reason: Schemas["PendingReason"];
  preemption_reason: Schemas["PreemptionReason"];
  remedy: Schemas["Remedy"]["remedy"];
}

export type Words = Schemas["Words"]["words"];

export interface Sentences {
  /** A word that needs no numbers. */
  word<L extends keyof Closed>(list: L, word: Closed[L]): string;
  denial(denied: Denied, nowMs: number): string;
  remedy(remedy: Schemas["Remedy"]): string;
  estimate(estimate: Schemas["Estimate"], nowMs: number): string;
  /** Why a job is where it is; a word that nobody knows is told as it is. */
  jobReason(word: string): string;
}

/** What says the words; the words themselves until the sentences are there. */
export function sentencesOf(words: Words | undefined): Sentences {
  const say = (list: string, word: string, values: Values, nowMs: number) => {
    const text = words?.[list]?.[word];
    if (text === undefined) return spell(word);
    try {
      return fill(text, values, nowMs);
    } catch (error) {
      // A newer server's rule or number: the word says less, but nothing wrong.
      if (error instanceof TemplateError) return spell(word);
      throw error;
    }
  };
  return {
    word: (list, word) => say(list, word, {}, 0),
    denial: (denied, nowMs) => say("denial", denied.detail, { ...denied }, nowMs),
    remedy: (remedy) => say("remedy", remedy.remedy, { ...remedy }, 0),
    estimate: (estimate, nowMs) => say("estimate", estimate.basis, { ...estimate }, nowMs),
    jobReason: (word) => {
      const list = JOB_REASONS.find((each) => words?.[each]?.[word] !== undefined);
      return list === undefined ? spell(word) : say(list, word, {}, 0);
    },
  };
}

const JOB_REASONS = ["preemption_reason", "pending_reason", "held_reason", "job_fault"] as const;

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
