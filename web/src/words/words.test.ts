// Pages and the command line say the same, of many values of every kind: the sentences in
// vectors.json were made by the command line's own code (tests/support/word_vectors.py).
import { expect, test } from "vitest";
import { EVERY_WORD } from "./every-word";
import { sentencesOf, toldFindings, type Closed } from "./sentences";
import { clock, fill, TemplateError } from "./template";
import vectors from "./vectors.json";

type Case = { kind: string; value: Record<string, unknown>; said: string };

const cases = vectors.cases as Case[];
const words = vectors.words as Record<string, Record<string, string>>;
const sentences = sentencesOf(words);

/** Node reads this anew at every date. */
function setZone(name: string): void {
  const { process } = globalThis as unknown as { process: { env: Record<string, string> } };
  process.env.TZ = name;
}

function said({ kind, value }: Case): string {
  switch (kind) {
    case "denial":
      return sentences.denial(value as never, vectors.now_ms);
    case "remedy":
      return sentences.remedy(value as never);
    case "estimate":
      return sentences.estimate(value as never, vectors.now_ms);
    case "finding":
      return sentences.finding(value as never);
    case "findings":
      return toldFindings(value.findings as never);
    default:
      throw new Error(`no such kind: ${kind}`);
  }
}

test("a page says of a decision what the command line says of it", () => {
  setZone("UTC");
  expect(cases.length).toBeGreaterThan(700);
  for (const each of cases) expect(said(each), JSON.stringify(each.value)).toBe(each.said);
});

test("every closed word that a page may say has its sentence", () => {
  for (const [list, every] of Object.entries(EVERY_WORD)) {
    expect(Object.keys(words[list] ?? {}).sort(), list).toEqual(Object.keys(every).sort());
  }
  const kinds = new Set(cases.map((each) => each.value.detail ?? each.value.remedy));
  for (const word of Object.keys({ ...EVERY_WORD.denial, ...EVERY_WORD.remedy })) {
    expect(kinds, word).toContain(word);
  }
});

test("until the sentences are there, and for what a newer server says, the word is told", () => {
  const none = sentencesOf(undefined);
  expect(none.word("pending_reason", "waiting_for_quota")).toBe("waiting for quota");
  const newer = sentencesOf({ pending_fix: { fragmented: "{unknown:sparkle}" } });
  expect(newer.word("pending_fix", "fragmented")).toBe("fragmented");
  expect(sentences.jobReason("from_a_newer_server")).toBe("from a newer server");
  expect(sentences.jobReason("out_of_memory")).toContain("memory");
  expect<keyof Closed>("denial").toBe("denial");
});

test("a text that follows no rule is refused", () => {
  for (const text of ["{a", "[a?b", "]", "{A}", "[a b]"]) {
    expect(() => fill(text, { a: 1 }, 0), text).toThrow(TemplateError);
  }
  expect(fill("[a?[b?both|one]|none]", { a: 1 }, 0)).toBe("one");
});

test("a moment is told on the reader's own clock", () => {
  setZone("Asia/Kathmandu");
  expect(clock(vectors.now_ms)).toBe("2026-09-21 19:58:20+05:45");
  setZone("UTC");
  expect(clock(vectors.now_ms)).toBe("2026-09-21 14:13:20Z");
});
