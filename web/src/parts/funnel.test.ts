// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { stepsOf } from "./funnel";

test("each step says how many are left, and the last is what fits", () => {
  const { all, steps } = stepsOf({
    fallen: { wrong_generation: 11, not_free: 7, closed: 0 },
    fitting: 43,
  });
  expect(all).toBe(61);
  expect(steps.map((step) => step.left)).toEqual([50, 43]);
});
