// What one was told, and by which ways one is told.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, ask, type Schemas } from "@/api/client";
import { useRows } from "@/api/rows";

export type Notice = Schemas["InboxNotice"];

/** A notice is written a moment after what it tells of, which no news of the journal announce. */
const ASK_EVERY_MS = 20_000;

export function useUnread(): number {
  const query = useQuery({
    queryKey: ["inbox", "unread"],
    queryFn: () => ask(api.GET("/v1/inbox", { params: { query: { limit: 1 } } })),
    refetchInterval: ASK_EVERY_MS,
    retry: false,
  });
  return query.data?.unread ?? 0;
}

export function useInbox() {
  return useRows<Notice>(["inbox", "list"], (query) =>
    ask(api.GET("/v1/inbox", { params: { query } })),
  );
}

export function useReading() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (ids: number[]) => ask(api.POST("/v1/inbox/read", { body: { ids } })),
    onSuccess: () => client.invalidateQueries({ queryKey: ["inbox"] }),
  });
}

export function useSettings() {
  return useQuery({ queryKey: ["notices"], queryFn: () => ask(api.GET("/v1/notices")) });
}

export function useChoosing() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (choices: Schemas["NoticeChoice"][]) =>
      ask(api.PUT("/v1/notices", { body: { choices } })),
    onSuccess: () => client.invalidateQueries({ queryKey: ["notices"] }),
  });
}
