// The server's own sentences for closed words, asked for once.
import { useQuery } from "@tanstack/react-query";
import { api, ask } from "@/api/client";
import { type Sentences, sentencesOf } from "./sentences";

export function useSentences(): Sentences {
  const { data } = useQuery({
    queryKey: ["words"],
    staleTime: Infinity,
    queryFn: () => ask(api.GET("/v1/words")),
  });
  return sentencesOf(data?.words);
}
