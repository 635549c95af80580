// Keeps what is on the screen new: notices of the journal make the queries about their noun old. How
// often there is one, the server decides: every second, or less often where many watch. Who may not
// read the journal gets fresh numbers by asking again, the less often the longer an answer takes.
import { useQueryClient, type QueryClient } from "@tanstack/react-query";
import { createContext, use, useEffect, useState, type ReactNode } from "react";
import { openLive, type LiveState } from "@/api/live";
import { isLongList } from "@/api/rows";
import { mayAnywhere, useWho } from "./who";

export type Freshness = LiveState | "asking";

const LiveContext = createContext<Freshness>("connecting");
const EVERY_MS = 1_000;
const ASK_EVERY_MS = 10_000;
const ASK_PART = 50;

export function useFreshness(): Freshness {
  return use(LiveContext);
}

/** The kinds that a notice tells; of many records it does not tell them apart. */
export function kindsOf(notice: string): string[] {
  const { kinds } = JSON.parse(notice) as { kinds: string[] | null };
  return kinds ?? ["lease", "node", "tenant", "app", "other"];
}

/** Which queries a record makes old, by the first words of its kind. */
export function nounsOf(kind: string): string[] {
  if (/^(lease|admission|eviction|preempt|fence|teardown|queue|entry)/.test(kind)) {
    return ["leases", "queue", "jobs", "quota", "usage"];
  }
  if (/^(node|device|attest|quarantine|enrol|heartbeat)/.test(kind)) return ["nodes"];
  if (/^(tenant|project|member|role|quota|budget|rate|invoice|account|token)/.test(kind)) {
    return ["tenants", "quota", "budgets", "members", "usage"];
  }
  if (/^(app|shared|submit_policy)/.test(kind)) {
    return ["runtimes", "instances", "apps", "entitlements", "leases"];
  }
  return ["records", "findings"];
}

export function LiveProvider({ children }: { children: ReactNode }) {
  const self = useWho();
  const client = useQueryClient();
  const [state, setState] = useState<Freshness>("connecting");
  const watches = mayAnywhere(self, "journal.record.read");
  useEffect(() => {
    if (!watches) return askAgain(client, setState);
    const old = new Set<string>();
    const feed = openLive({
      address: "/v1/watch?every_s=1",
      onState: setState,
      onEvent: ({ data }) => kindsOf(data).flatMap(nounsOf).forEach((noun) => old.add(noun)),
    });
    const timer = setInterval(() => {
      if (old.size > 0 && !document.hidden) {
        const nouns = new Set(old);
        old.clear();
        void refresh(client, (noun) => nouns.has(noun));
      }
    }, EVERY_MS);
    return () => {
      clearInterval(timer);
      feed.close();
    };
  }, [client, watches]);
  return <LiveContext value={state}>{children}</LiveContext>;
}

function askAgain(client: QueryClient, setState: (state: Freshness) => void): () => void {
  setState("asking");
  let timer = setTimeout(look, ASK_EVERY_MS);
  let isOver = false;
  async function look() {
    const began = performance.now();
    if (!document.hidden) await refresh(client, (noun) => noun !== "whoami");
    // A busy server is asked less often: one part of the time at most is spent on asking it.
    const took = performance.now() - began;
    if (!isOver) timer = setTimeout(look, Math.max(ASK_EVERY_MS, ASK_PART * took));
  }
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

/** Without cutting what is under way: a slow answer would never come. */
function refresh(client: QueryClient, wants: (noun: string) => boolean): Promise<void> {
  return client.invalidateQueries(
    { predicate: ({ queryKey, state }) => wants(String(queryKey[0])) && !isLongList(state.data) },
    { cancelRefetch: false },
  );
}
