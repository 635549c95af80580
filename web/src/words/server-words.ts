// The server's own sentences for closed words, the same that the command line says.
import { useQuery } from "@tanstack/react-query";
import { api, ask } from "@/api/client";
import { spell } from "./amounts";

export type List =
  | "pending_reason"
  | "pending_fix"
  | "filter_reason"
  | "filter_reason_beside"
  | "budget_state"
  | "job_fault"
  | "preemption_reason"
  | "error_code";

/** What says a word of a list; the word itself until the sentences are there, or if it has numbers. */
export function useSentence(): (list: List, word: string) => string {
  const { data } = useQuery({
    queryKey: ["words"],
    staleTime: Infinity,
    queryFn: () => ask(api.GET("/v1/words")),
  });
  return (list, word) => {
    const found = data?.words[list]?.[word];
    return found === undefined || found.includes("{") ? spell(word) : found;
  };
}
