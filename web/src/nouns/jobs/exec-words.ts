// What a program inside a job wrote and was told, as text; and how it ended, in words.
import type { Schemas } from "@/api/client";
import { assertNever } from "@/words/assert-never";

/** What a terminal would do with these, a page does not. */
export function plain(text: string): string {
  return text.replace(/\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007]*\u0007|\r(?=\n)/g, "");
}

export function toBase64(text: string): string {
  let binary = "";
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary);
}

export function overSentence(out: {
  end: Schemas["ExecEnd"] | null;
  exit_code: number | null;
  signal: number | null;
}): string {
  switch (out.end) {
    case null:
      return "it goes on";
    case "exited":
      return `ended with exit code ${out.exit_code ?? 0}`;
    case "signalled":
      return `ended by signal ${out.signal ?? 0}`;
    case "not_begun":
      return "it could not be run";
    case "job_over":
      return "the job is over";
    case "ended":
      return "it was ended";
    case "caller_gone":
      return "the server took you for gone and ended it";
    case "time_over":
      return "it ran for as long as it may, and was ended";
    case "lost":
      return "the server or the node lost it";
    default:
      return assertNever(out.end);
  }
}
