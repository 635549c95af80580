import { expect, test } from "vitest";
import { overSentence, plain, toBase64 } from "./exec-words";

test("colours and moves of a terminal are left out, text stays", () => {
  expect(plain("\u001b[31mred\u001b[0m\r\nnext \u001b]0;title\u0007end")).toBe("red\nnext end");
});

test("what is typed goes as bytes", () => {
  expect(atob(toBase64("ä"))).toBe("\u00c3\u00a4");
});

test("how it ended is a sentence", () => {
  expect(overSentence({ end: "exited", exit_code: 3, signal: null })).toBe(
    "ended with exit code 3",
  );
});
