// The journal as it grows, for as long as the page is open. A lost connection is tried again after
// the last number that was heard, so nothing is missed; how it stands can be asked at any time.
import { readEvents, type ServerEvent } from "./sse";

export type LiveState = "connecting" | "live" | "lost" | "full" | "refused" | "ended";

export interface LiveFeed {
  close(): void;
}

export interface LiveTerms {
  address: string;
  onState: (state: LiveState) => void;
  onEvent: (event: ServerEvent) => void;
  fetcher?: typeof fetch;
  /** How long to wait before the nth try. */
  pauseMs?: (tries: number) => number;
}

const PAUSE_MS_MAX = 15_000;

export function defaultPause(tries: number): number {
  return Math.min(PAUSE_MS_MAX, 500 * 2 ** Math.min(tries, 5));
}

export function openLive(terms: LiveTerms): LiveFeed {
  const stop = new AbortController();
  void run(terms, stop.signal);
  return { close: () => stop.abort() };
}

async function run(terms: LiveTerms, signal: AbortSignal): Promise<void> {
  const { onState, onEvent, fetcher = fetch, pauseMs = defaultPause } = terms;
  let place: string | null = null;
  let tries = 0;
  let isFull = false;
  while (!signal.aborted) {
    if (tries === 0) onState("connecting");
    else if (!isFull) onState("lost");
    let ended: string | null = null;
    const read = readEvents((event) => {
      if (event.id !== null) place = event.id;
      if (event.event === "end") ended = event.data;
      else if (event.data !== "") onEvent(event);
    });
    try {
      const headers: Record<string, string> = place === null ? {} : { "Last-Event-ID": place };
      const response = await fetcher(terms.address, {
        headers,
        signal,
        credentials: "same-origin",
      });
      if (response.status === 401 || response.status === 403) {
        onState("refused");
        return;
      }
      isFull = response.status === 429;
      if (response.ok && response.body !== null) {
        onState("live");
        tries = 0;
        await drain(response.body, read);
      }
    } catch {
      // Told by the state below: a cut connection is an everyday thing.
    }
    if (ended !== null && /token_ended|forbidden/.test(ended)) {
      onState("ended");
      return;
    }
    if (signal.aborted) return;
    tries += 1;
    onState(isFull ? "full" : "lost");
    await pause(pauseMs(tries), signal);
  }
}

/** Read a stream of text to its end. */
export async function drain(body: ReadableStream<Uint8Array>, read: (text: string) => void) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    read(decoder.decode(value, { stream: true }));
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}
