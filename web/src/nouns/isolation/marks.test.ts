import { expect, test } from "vitest";
import { offsetOf, piecesOf, type Problem } from "./marks";

function problem(line: number, column: number, found: string): Problem {
  return { line, column, found, sentence: "expected only", nearest: null };
}

test("what is wrong is marked at its very characters, and no text is lost", () => {
  const text = "a: tenant 🜚 onli x\n\nkeep hosst";
  const problems = [problem(3, 6, "hosst"), problem(1, 13, "onli"), problem(2, 1, "")];
  const found = piecesOf(text, problems);
  const marked = found.map((line) => line.filter((piece) => piece.problem).map(({ text: t }) => t));
  expect(marked).toEqual([["onli"], [" "], ["hosst"]]);
  const plain = found.map((line) => line.map((piece) => piece.text).join(""));
  expect(plain).toEqual(["a: tenant 🜚 onli x", " ", "keep hosst"]);
});

test("what is wrong can be selected, also after letters of two halves", () => {
  const text = "a: tenant 🜚 onli x\n\nkeep hosst";
  for (const each of [problem(1, 13, "onli"), problem(3, 6, "hosst")]) {
    const [start, end] = offsetOf(text, each);
    expect(text.slice(start, end)).toBe(each.found);
  }
});

test("a mark beyond the end of a line, and two in one place, break nothing", () => {
  const found = piecesOf("ab", [problem(1, 9, ""), problem(1, 1, "ab"), problem(1, 2, "b")]);
  expect(found[0]?.map((piece) => piece.text)).toEqual(["ab", " "]);
});
