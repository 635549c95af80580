// A text field with line numbers, marks below the very characters that are wrong, and lines marked
// around which a way was found. The field is the browser's own: typing, undo and reading aloud are
// what they are everywhere.
import { useId, useRef, type RefObject } from "react";
import { piecesOf, type Problem } from "./marks";

interface EditorTerms {
  label: string;
  text: string;
  setText: (text: string) => void;
  problems: Problem[];
  /** Lines that what was found goes around. */
  broken: ReadonlySet<number>;
  isReadOnly: boolean;
  field: RefObject<HTMLTextAreaElement | null>;
  describedBy: string;
}

const LINES_MIN = 12;
const FONT = "font-mono text-sm leading-6";

export function PolicyEditor(terms: EditorTerms) {
  const { text, problems } = terms;
  const lines = piecesOf(text, problems);
  const wrong = new Set(problems.map((problem) => problem.line));
  const shown = Math.max(LINES_MIN, lines.length + 1);
  const widest = Math.max(40, ...text.split("\n").map((line) => line.length + 2));
  const frame = useRef<HTMLDivElement>(null);
  const id = useId();
  return (
    <div ref={frame} className="flex max-h-[60dvh] overflow-auto rounded-md border border-strong bg-panel focus-within:outline-2 focus-within:outline-accent">
      <ol
        aria-hidden
        className={`${FONT} sticky left-0 z-10 shrink-0 border-r border-line bg-raised py-2 text-right text-muted select-none`}
      >
        {Array.from({ length: Math.max(LINES_MIN, lines.length) }, (_, at) => (
          <li
            key={at}
            className={`px-2 ${
              wrong.has(at + 1) || terms.broken.has(at + 1)
                ? "bg-bad-soft font-semibold text-bad"
                : ""
            }`}
          >
            {at + 1}
          </li>
        ))}
      </ol>
      <div className="relative flex-1" style={{ minWidth: `${widest}ch` }}>
        <pre
          aria-hidden
          className={`${FONT} pointer-events-none absolute inset-0 m-0 px-3 py-2 text-transparent`}
        >
          {lines.map((pieces, at) => (
            <div
              key={at}
              data-broken={terms.broken.has(at + 1) || undefined}
              className={`min-h-6 ${terms.broken.has(at + 1) ? "-mx-3 border-l-4 border-bad bg-bad-soft px-2" : ""}`}
            >
              {pieces.map((piece, place) =>
                piece.problem === null ? (
                  piece.text
                ) : (
                  <mark
                    key={place}
                    data-problem={piece.problem.sentence}
                    className="rounded-sm bg-bad-soft text-transparent underline decoration-bad decoration-wavy decoration-2 underline-offset-4"
                  >
                    {piece.text}
                  </mark>
                ),
              )}
            </div>
          ))}
        </pre>
        <label htmlFor={id} className="sr-only">
          {terms.label}
        </label>
        <textarea
          id={id}
          ref={terms.field}
          value={text}
          readOnly={terms.isReadOnly}
          rows={shown}
          spellCheck={false}
          placeholder="never share host between tenant acme and tenant umbrella"
          autoCapitalize="off"
          autoCorrect="off"
          wrap="off"
          aria-invalid={problems.length > 0}
          aria-describedby={terms.describedBy}
          onChange={(event) => terms.setText(event.target.value)}
          className={`${FONT} relative block w-full resize-none overflow-hidden bg-transparent px-3 py-2 whitespace-pre outline-none placeholder:text-muted`}
        />
      </div>
    </div>
  );
}
