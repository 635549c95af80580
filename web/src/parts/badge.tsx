// A closed word with its colour. The word itself is always there: colour alone tells nothing.
import { spell } from "@/words/amounts";
import type { Tone } from "@/words/tones";

const LOOK: Record<Tone, string> = {
  good: "bg-good-soft text-good",
  warn: "bg-warn-soft text-warn",
  bad: "bg-bad-soft text-bad",
  info: "bg-info-soft text-info",
  quiet: "bg-raised text-muted",
};

export function Badge({ word, tone, title }: { word: string; tone: Tone; title?: string }) {
  return (
    <span
      className={`inline-block rounded px-1.5 py-px text-xs font-medium whitespace-nowrap ${LOOK[tone]}`}
      title={title}
    >
      {spell(word)}
    </span>
  );
}
