import { expect, it } from "vitest";
import { inRuns } from "./runs";

const rows = (kind: string, actor: string, many: number) =>
  Array.from({ length: many }, () => ({ kind, actor }));

it("tells many of the same as one, and keeps the order of all", () => {
  const records = [
    ...rows("moved", "apps", 1),
    ...rows("used", "robot", 6),
    ...rows("used", "other", 5),
    ...rows("moved", "apps", 1),
  ];
  const found = inRuns(records);
  expect(found.map((run) => run.length)).toEqual([1, 6, 1, 1, 1, 1, 1, 1]);
  expect(found.flat()).toEqual(records);
});
