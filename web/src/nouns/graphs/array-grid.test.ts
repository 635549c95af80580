import { expect, test } from "vitest";
import { stepOf } from "./array-grid";

test("arrow keys go from cell to cell and never out of the grid", () => {
  const size = { columns: 4, cells: 10 };
  expect(stepOf("ArrowRight", 0, size)).toBe(1);
  expect(stepOf("ArrowDown", 1, size)).toBe(5);
  expect(stepOf("ArrowDown", 7, size)).toBe(7);
  expect(stepOf("ArrowUp", 5, size)).toBe(1);
  expect(stepOf("ArrowLeft", 0, size)).toBe(0);
  expect(stepOf("End", 0, size)).toBe(9);
  expect(stepOf("x", 3, size)).toBe(3);
});
