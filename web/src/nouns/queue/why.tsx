// Why a request waits: the one thing first, then the funnel of nodes, then every blocker.
import type { Schemas } from "@/api/client";
import { Badge } from "@/parts/badge";
import { Funnel } from "@/parts/funnel";
import { useNow } from "@/parts/age";
import type { Denied } from "@/words/sentences";
import { useSentences } from "@/words/server-words";
import { reasonTone } from "@/words/tones";

type Entry = Schemas["QueueEntry"];

/** In two lines: what would unblock it, and when it may start. */
export function Waiting({ entry, now }: { entry: Entry; now: number }) {
  const sentences = useSentences();
  return (
    <div className="space-y-1">
      <p className="flex flex-wrap items-center gap-2">
        <Badge
          word={entry.reason}
          tone={reasonTone(entry.reason)}
          title={sentences.word("pending_reason", entry.reason)}
        />
        <span className="inline-block font-medium first-letter:uppercase">
          {sentences.remedy(entry.remedy)}
        </span>
      </p>
      <p className="text-muted">
        Number {entry.position} in line; may start: {sentences.estimate(entry.estimate, now)}
      </p>
    </div>
  );
}

/** One obstacle with its numbers, in the sentence that the command line says. */
export function Denial({ denied }: { denied: Denied }) {
  const now = useNow();
  const sentences = useSentences();
  return (
    <p className="flex flex-wrap items-center gap-2">
      <Badge
        word={denied.reason}
        tone={reasonTone(denied.reason)}
        title={sentences.word("pending_reason", denied.reason)}
      />
      <span className="inline-block first-letter:uppercase" title={denied.detail}>
        {sentences.denial(denied, now)}
      </span>
    </p>
  );
}

export function Why({ entry }: { entry: Entry }) {
  return (
    <div className="grid gap-6 lg:grid-cols-[3fr_2fr]">
      <div>
        <h3 className="mb-1 font-medium">Nodes, filter by filter</h3>
        <Funnel fallen={entry.fallen} fitting={entry.fitting} />
        {entry.is_further && <p className="mt-1 text-muted">Others in line come before it, too.</p>}
      </div>
      <div className="space-y-3">
        <h3 className="font-medium">All that stands in its way</h3>
        {entry.blockers.length === 0 && (
          <p className="text-muted">Nothing but its place in line.</p>
        )}
        {entry.blockers.map((each, at) => (
          <Denial key={at} denied={each} />
        ))}
        {(entry.rules ?? []).length > 0 && (
          <p className="text-muted">
            Rules that close nodes:{" "}
            {(entry.rules ?? []).map((rule) => `${rule.rule} (${rule.nodes})`).join(", ")}
          </p>
        )}
      </div>
    </div>
  );
}
