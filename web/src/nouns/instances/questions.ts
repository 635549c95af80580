// What people ask of an app's queue. To the platform these are words; which ones an app understands is
// for it to say. Those of the schedulers that we know are offered, all others are typed.
import type { Schemas } from "@/api/client";

export interface Question {
  /** What one wants to know. */
  label: string;
  words: string;
}

/** The questions to offer, by the scheduler behind an app. */
export function questionsOf(backend: string): Question[] {
  switch (backend) {
    case "slurm":
      return [
        { label: "What runs and waits", words: "squeue" },
        { label: "What ran today", words: "sacct -X" },
        { label: "Its workers", words: "sinfo -N" },
      ];
    default:
      return [];
  }
}

/** What is sent: words between spaces, as many as the server takes. */
export function argvOf(words: string): string[] | null {
  const argv = words.split(/\s+/).filter((word) => word !== "");
  return argv.length === 0 || argv.length > 128 ? null : argv;
}

/** Whether somebody is there to answer. */
export function isAskable(phase: Schemas["InstancePhase"]): boolean {
  return phase === "running" || phase === "updating" || phase === "degraded";
}

type Call = Schemas["CallDone"];

/** The same request under the same key goes on waiting; the server ends it after its own time. */
const TRIES_MAX = 30;

/** What the operator says, once it has said it. */
export async function replyOf(send: () => Promise<Call>): Promise<Schemas["CallReply"]> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const reply = (await send()).call?.reply;
    if (reply != null) return reply;
  }
  throw new Error("nobody answered in time");
}
