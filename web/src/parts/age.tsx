// Times: how long ago, and the exact moment on hover. One clock ticks for the whole page.
import { useSyncExternalStore } from "react";
import { span } from "@/words/amounts";
import { isDate } from "@/words/template";

const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | null = null;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const each of listeners) each();
  }, 1_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0 && timer !== null) {
      clearInterval(timer);
      timer = null;
    }
  };
}

/** While nobody listened, the clock stood still. */
function read(): number {
  if (timer === null && Date.now() - now >= 1_000) now = Date.now();
  return now;
}

export function useNow(): number {
  return useSyncExternalStore(subscribe, read);
}

/** "3m ago" or "in 2h". */
export function Age({ ms }: { ms: number | null | undefined }) {
  const current = useNow();
  if (ms === null || ms === undefined) return <span className="text-muted">never</span>;
  const past = current - ms;
  // The page's clock ticks each second, and the server's may be a little ahead of it.
  const told = past < 1_000 && past > -2_000 ? "now" : whole(Math.abs(past));
  const text = told === "now" ? told : past > 0 ? `${told} ago` : `in ${told}`;
  return (
    <time dateTime={attribute(ms)} title={moment(ms)} className="whitespace-nowrap">
      {text}
    </time>
  );
}

/** From one time to another, or until now. */
export function Lasted({ from, to }: { from: number | null; to: number | null }) {
  const current = useNow();
  if (from === null) return <span className="text-muted">-</span>;
  return <span className="whitespace-nowrap">{whole(Math.max(0, (to ?? current) - from))}</span>;
}

function whole(ms: number): string {
  return span(Math.floor(ms / 1_000) * 1_000);
}

/** A moment as browsers read it; one beyond all dates has none. */
export function attribute(ms: number): string | undefined {
  return isDate(ms) ? new Date(ms).toISOString() : undefined;
}

/** A moment, exactly, in this person's own time zone. */
export function moment(ms: number): string {
  if (!isDate(ms)) return `${ms} ms`;
  const at = new Date(ms);
  const pad = (part: number) => String(part).padStart(2, "0");
  const date = `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
  return `${date} ${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}`;
}
