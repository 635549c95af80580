// Keeps what is on the screen new: the server tells which nouns became old, of what this person may
// read, and the queries about them are asked again. Where that cannot be had, all is asked again
// every ten seconds.
import { useQueryClient, type QueryClient } from "@tanstack/react-query";
import { createContext, use, useEffect, useState, type ReactNode } from "react";
import { openLive, type LiveState } from "@/api/live";
import { keysOf, readChange } from "@/api/changes";
import { isLongList } from "@/api/rows";
import { may, useWho } from "./who";

export type Freshness = Exclude<LiveState, "full"> | "asking";

const LiveContext = createContext<Freshness>("connecting");
const ASK_EVERY_MS = 10_000;
const OTHERS_EVERY_MS = 30_000;
/** What others' work moves too, of which nobody is told: a place in line, free nodes. */
const MOVED_BY_OTHERS: ReadonlySet<string> = new Set(["queue", "nodes", "plan"]);

export function useFreshness(): Freshness {
  return use(LiveContext);
}

export function LiveProvider({ children }: { children: ReactNode }) {
  const self = useWho();
  const client = useQueryClient();
  const [state, setState] = useState<Freshness>("connecting");
  const seesFleet = may(self, "scheduler.node.read");
  useEffect(() => {
    const old = new Set<string>();
    let all = false;
    let now: Freshness = "connecting";
    function drop(): void {
      if (document.hidden) return;
      const nouns = new Set(old);
      if (all) void refresh(client, (noun) => noun !== "whoami");
      else if (nouns.size > 0) void refresh(client, (noun) => nouns.has(noun) || noun === "story");
      old.clear();
      all = false;
    }
    const feed = openLive({
      address: "/v1/changes",
      onState: (next) => {
        // Let in, but no place: asking again is not live, and is said.
        now = next === "full" ? "asking" : next;
        setState(now);
      },
      onEvent: ({ data }) => {
        const change = readChange(data);
        change.nouns.flatMap(keysOf).forEach((key) => old.add(key));
        all ||= change.missed;
        drop();
      },
    });
    const timer = setInterval(() => {
      if (now !== "live" && now !== "connecting" && now !== "ended") all = true;
      drop();
    }, ASK_EVERY_MS);
    const slow = setInterval(() => {
      if (!seesFleet) MOVED_BY_OTHERS.forEach((noun) => old.add(noun));
      drop();
    }, OTHERS_EVERY_MS);
    document.addEventListener("visibilitychange", drop);
    return () => {
      document.removeEventListener("visibilitychange", drop);
      clearInterval(timer);
      clearInterval(slow);
      feed.close();
    };
  }, [client, seesFleet]);
  return <LiveContext value={state}>{children}</LiveContext>;
}

/** Without cutting what is under way: a slow answer would never come. */
function refresh(client: QueryClient, wants: (noun: string) => boolean): Promise<void> {
  return client.invalidateQueries(
    { predicate: ({ queryKey, state }) => wants(String(queryKey[0])) && !isLongList(state.data) },
    { cancelRefetch: false },
  );
}
