import { api, ask } from "@/api/client";
import { useRows } from "@/api/rows";
import type { Schemas } from "@/api/client";
import type { Tone } from "@/words/tones";

export type Finding = Schemas["Finding"];

export function useFindings(word: string | null) {
  return useRows(["findings", word], (page) => {
    const query = word === null ? page : { ...page, finding: word };
    return ask(api.GET("/v1/findings", { params: { query } }));
  });
}

/** The journal's own words for how bad it is; one that is not known is shown as it is. */
export function findingTone(severity: string): Tone {
  if (/^(critical|high|fatal)$/.test(severity)) return "bad";
  if (/^(medium|low)$/.test(severity)) return "warn";
  return "quiet";
}
