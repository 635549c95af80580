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
  health_action: Schemas["HealthAction"];
  health_check: Schemas["HealthCheck"];
  job_fault: Schemas["JobFault"];
  mig_failure: Schemas["MigFailure"];
  mint_denial: Schemas["MintDenial"];
  node_test_outcome: Schemas["NodeTestOutcome"];
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
  /** What was found on a machine, and where. */
  finding(finding: Schemas["NodeFinding"]): string;
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
    finding: ({ check, gpu, value, limit, code }) => {
      const where = gpu === null || gpu === undefined ? "the machine" : `GPU ${gpu}`;
      const values = { where, value: value ?? 0, limit: limit ?? 0, code: code ?? 0 };
      return say("health_check", check, values, 0);
    },
    jobReason: (word) => {
      const list = JOB_REASONS.find((each) => words?.[each]?.[word] !== undefined);
      return list === undefined ? spell(word) : say(list, word, {}, 0);
    },
  };
}

const JOB_REASONS = ["preemption_reason", "pending_reason", "held_reason", "job_fault"] as const;

/** How many findings there are, in a few words. */
export function toldFindings(findings: readonly Schemas["NodeFinding"][]): string {
  const fails = findings.filter((each) => each.level === "fail").length;
  const warns = findings.length - fails;
  const parts = [
    fails === 0 ? "" : fails === 1 ? "1 finding that fails it" : `${fails} findings that fail it`,
    warns === 0 ? "" : warns === 1 ? "1 warning" : `${warns} warnings`,
  ];
  return parts.filter((part) => part !== "").join(", ") || "ok";
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
