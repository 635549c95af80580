import { expect, test } from "vitest";
import { countsSentence, phaseCounts } from "./phases";

test("phases are counted from what is over to what is to come", () => {
  const tasks = [{ phase: "blocked" }, { phase: "succeeded" }, { phase: "succeeded" }] as const;
  expect(phaseCounts([...tasks])).toEqual([
    ["succeeded", 2],
    ["blocked", 1],
  ]);
  expect(countsSentence([["backing_off", 1]])).toBe("1 backing off");
});
