import { expect, test } from "vitest";
import { nextOn } from "./ahead";

const ROWS = [
  { name: "later", starts_ms: 30, nodes: ["n1", "n2"] },
  { name: "first", starts_ms: 10, nodes: ["n1"] },
  { name: "other", starts_ms: 5, nodes: ["n3"] },
];

test("what begins first on a node is told, and nothing of other nodes", () => {
  expect(nextOn("n1", ROWS)?.name).toBe("first");
  expect(nextOn("n2", ROWS)?.name).toBe("later");
  expect(nextOn("n9", ROWS)).toBe(null);
  expect(nextOn("n1", undefined)).toBe(null);
});
