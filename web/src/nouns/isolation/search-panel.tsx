// Searching for a way around the policy: asked with a button, seen as it goes, ended by another, and
// what is found as a story. The search itself runs on the server, in a process of its own.
import { useEffect, useRef, useState } from "react";
import { hearAnswer } from "@/api/answering";
import { Problem } from "@/api/problem";
import { CommandLine } from "@/parts/copy";
import { Panel } from "@/parts/panel";
import { Failed } from "@/parts/states";
import { count } from "@/words/amounts";
import { DrawnStory } from "./drawn-story";
import { hear, nothingHeard, type Heard } from "./search";

export interface PolicySearch {
  heard: Heard | null;
  isGoing: boolean;
  error: unknown;
  start: (text: string) => void;
  cancel: () => void;
}

const CUT = "the connection was lost before the search had ended; it ended with it";

/** One search at a time; it ends when the page is left. */
export function usePolicySearch(): PolicySearch {
  const [heard, setHeard] = useState<Heard | null>(null);
  const [isGoing, setGoing] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const stop = useRef<AbortController | null>(null);
  useEffect(() => () => stop.current?.abort(), []);
  async function search(text: string) {
    stop.current?.abort();
    const mine = (stop.current = new AbortController());
    let known = nothingHeard(text);
    setHeard(known);
    setGoing(true);
    setError(null);
    try {
      await hearAnswer({
        address: "/v1/isolation/search",
        body: { text },
        signal: mine.signal,
        onEvent: (event) => {
          known = hear(known, event);
          if (!mine.signal.aborted) setHeard(known);
        },
      });
      if (known.end === null && !mine.signal.aborted) {
        setError(new Problem("unreachable", CUT, null, true));
      }
    } catch (problem) {
      if (!mine.signal.aborted) setError(problem);
    } finally {
      if (stop.current === mine) setGoing(false);
    }
  }
  return {
    heard,
    isGoing,
    error,
    start: (text) => void search(text),
    cancel: () => stop.current?.abort(),
  };
}

interface SearchTerms {
  search: PolicySearch;
  text: string;
  /** Why it cannot be searched now; null if it can. */
  hindered: string | null;
  goTo: (line: number) => void;
}

export function SearchPanel({ search, text, hindered, goTo }: SearchTerms) {
  const { heard, isGoing } = search;
  const isOld = heard !== null && heard.text !== text;
  return (
    <Panel
      title="Is there a way around it?"
      aside={heard?.end !== null && isOld ? "of the text as it was" : undefined}
    >
      <div className="space-y-3">
        <p className="text-muted">
          In a small world jobs come, run, are evicted and leave, and nodes are lost, in every order.
          Nothing is changed by it.
        </p>
        <div className="flex flex-wrap items-center gap-3">
          {isGoing ? (
            <button type="button" className="button" onClick={search.cancel}>
              Cancel the search
            </button>
          ) : (
            <button
              type="button"
              className="button"
              disabled={hindered !== null}
              onClick={() => search.start(text)}
            >
              Search for a way around it
            </button>
          )}
          {hindered !== null && !isGoing && <span className="text-sm text-muted">{hindered}</span>}
        </div>
        {search.error !== null && <Failed error={search.error} />}
        {heard !== null && <Found heard={heard} isGoing={isGoing} goTo={goTo} />}
        <CommandLine command="bailiwick isolation search policy.txt" />
      </div>
    </Panel>
  );
}

function Found({ heard, isGoing, goTo }: { heard: Heard; isGoing: boolean; goTo: SearchTerms["goTo"] }) {
  const { progress, nothing, end } = heard;
  return (
    <>
      {isGoing && <Progress progress={progress} />}
      <div role="status" className="empty:hidden">
        {end !== null ? (
          <p className={`font-semibold ${end.ways > 0 ? "text-bad" : ""}`}>{end.sentence}</p>
        ) : (
          !isGoing && progress !== null && <p>The search was ended before it was over.</p>
        )}
      </div>
      {heard.stories.map((story, at) => (
        <section key={at} aria-label={`Story ${at + 1}`} className="rounded-md border border-line p-3">
          <DrawnStory story={story} goTo={goTo} />
        </section>
      ))}
      {nothing !== null && (
        <>
          <ul aria-label="How far was searched" className="list-disc space-y-1 pl-5 text-sm">
            {nothing.rounds.map((round) => (
              <li key={round.sentence}>{round.sentence}</li>
            ))}
          </ul>
          <p className="text-sm text-muted">
            {nothing.world}; {count(nothing.states)} states
          </p>
        </>
      )}
    </>
  );
}

function Progress({ progress }: { progress: Heard["progress"] }) {
  const [done, all] = progress === null ? [0, 1] : [progress.round - 1, progress.rounds];
  return (
    <div className="space-y-1">
      <div
        role="progressbar"
        aria-label="How far the search is"
        aria-valuemin={0}
        aria-valuemax={all}
        aria-valuenow={done}
        aria-valuetext={progress?.sentence}
        className="h-1.5 overflow-hidden rounded-full bg-raised"
      >
        <div
          className="h-full rounded-full bg-accent"
          style={{ width: `${Math.max(4, (100 * done) / all)}%` }}
        />
      </div>
      {progress !== null && (
        <p className="flex flex-wrap justify-between gap-x-3 text-sm text-muted">
          <span>{progress.sentence}</span>
          <span>
            {progress.round} of {progress.rounds}, {count(progress.states)} states
          </span>
        </p>
      )}
    </div>
  );
}
