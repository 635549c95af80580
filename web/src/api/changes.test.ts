import { expect, test } from "vitest";
import { keysOf, NOUNS, readChange, type ChangeNoun } from "./changes";

test("every noun makes some queries old", () => {
  for (const noun of Object.keys(NOUNS) as ChangeNoun[]) expect(keysOf(noun), noun).not.toEqual([]);
});

test("what is not understood makes all old, and a newer server's noun is left out", () => {
  expect(readChange("{")).toEqual({ nouns: [], missed: true });
  expect(readChange('{"nouns": ["leases", "new"], "missed": false}')).toEqual({
    nouns: ["leases"],
    missed: false,
  });
});
