// @vitest-environment happy-dom
// Moments that no calendar has are told as numbers, and break no page.
import { act, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { expect, test } from "vitest";
import { clock, moment as sentence } from "@/words/template";
import { moment } from "./age";
import { When } from "./when";

(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;

function drawn(node: ReactNode): HTMLElement {
  const place = document.createElement("div");
  const root = createRoot(place);
  act(() => root.render(node));
  const copy = place.cloneNode(true) as HTMLElement;
  act(() => root.unmount());
  return copy;
}

const BEYOND = [Number.MAX_SAFE_INTEGER, 8.64e15, 8.64e15 + 1, Date.UTC(10_000, 0, 1)];

test.each(BEYOND)("a moment beyond all dates is told as a number: %d", (ms) => {
  expect(clock(ms)).toBe(`${ms} ms`);
  expect(moment(ms)).toBe(`${ms} ms`);
  expect(sentence(ms, 0)).toContain(`${ms} ms (in `);
  const told = drawn(<When ms={ms} />);
  expect(told.textContent).toContain(`${ms} ms (in `);
  expect(told.querySelector("time")?.hasAttribute("datetime")).toBe(false);
});

test("a moment that is a date is told as one", () => {
  const told = drawn(<When ms={Date.UTC(2026, 10, 24, 9)} />);
  expect(told.querySelector("time")?.getAttribute("datetime")).toBe("2026-11-24T09:00:00.000Z");
  expect(clock(Date.UTC(2026, 10, 24, 9))).toContain("2026-11-24 ");
});
