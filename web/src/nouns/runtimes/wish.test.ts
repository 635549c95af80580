import { expect, test } from "vitest";
import type { Schemas } from "@/api/client";
import { readManifest } from "@/nouns/apps/manifest";
import { billOf, EMPTY, labelOf, microRates, sumsOf, wishOf } from "./wish";

const MANIFEST = readManifest(JSON.stringify({ roles: { worker: { count: [0, 8] } } }));
const WISH = { ...EMPTY, app: "hub", version: "1.0.0", owner: "core", projects: ["core", "vision"] };

test("a label is a name and a value, and nothing is any node", () => {
  expect(labelOf("")).toEqual({});
  expect(labelOf("zone=a")).toEqual({ zone: "a" });
  expect(labelOf("zone")).toBeNull();
  expect(labelOf("zone=a=b")).toBeNull();
});

test("prices are whole millionths", () => {
  expect(microRates({ cpu_second: "0.00002", gpu_second: "" })).toEqual({ cpu_second: 20 });
  expect(microRates({ cpu_second: "0.0000002" })).toBeNull();
  expect(microRates({ cpu_second: "x" })).toBeNull();
});

test("a wish is sent once nothing is missing", () => {
  const body = wishOf({ ...WISH, reserved: { worker: "2" }, withdrawMinutes: "1" }, MANIFEST);
  expect(body).toMatchObject({ project: "core", counts: { worker: 2 }, withdraw_within_ms: 60_000 });
  expect(wishOf({ ...WISH, owner: "" }, MANIFEST)).toBeNull();
  expect(wishOf({ ...WISH, reserved: { worker: "many" } }, MANIFEST)).toBeNull();
});

test("everybody pays for what is his: the owner record for what is reserved, givers for what they give", () => {
  const plan = {
    reserved: [
      { role: "controller", part: "control_plane", count: 1, payer: "core", micros_per_hour: 8, is_upper_bound: false },
      { role: "worker", part: "workload", count: 2, payer: "core", micros_per_hour: 40, is_upper_bound: false },
    ],
    contributed: [{ role: "worker", micros_per_hour: 20, is_upper_bound: true }],
  } as Schemas["SharedPlan"];
  const lines = billOf(plan, { ...WISH, expected: { vision: "3", core: "" } });
  expect(sumsOf(lines)).toEqual([
    { payer: "vision", micros: 60, isBound: true },
    { payer: "core", micros: 48, isBound: false },
  ]);
  expect(lines.map((line) => line.isSure)).toEqual([true, true, false]);
});
