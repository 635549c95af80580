import { expect, test } from "vitest";
import { parameterValues, readManifest } from "./manifest";

const TEXT = JSON.stringify({
  title: "Hub",
  control_plane_scopes: ["project", "tenant"],
  parameters: {
    type: "object",
    required: ["name"],
    properties: {
      name: { type: "string" },
      size: { type: "integer", default: 2 },
      fast: { type: "boolean" },
      colour: { enum: ["red", "blue"] },
      more: { type: "array" },
    },
  },
  roles: {
    controller: { count: 1, control_plane: true, shape: { cpus: "2" } },
    worker: { count: [0, 8], shape: {} },
  },
});

test("a manifest's roles have the least and the most of each", () => {
  const { roles, scopes } = readManifest(TEXT);
  expect(scopes).toEqual(["project", "tenant"]);
  expect(roles.map((each) => [each.role, each.least, each.most, each.isControlPlane])).toEqual([
    ["controller", 1, 1, true],
    ["worker", 0, 8, false],
  ]);
});

test("what is typed becomes values of the right kinds, and what is empty is left out", () => {
  const { parameters } = readManifest(TEXT);
  const typed = { name: "a", size: "3", fast: "true", colour: "red", more: "[1]" };
  expect(parameterValues(parameters, typed)).toEqual({
    name: "a",
    size: 3,
    fast: true,
    colour: "red",
    more: [1],
  });
  expect(parameterValues(parameters, { name: "a" })).toEqual({ name: "a" });
});

test("what is missing or no number is not sent", () => {
  const { parameters } = readManifest(TEXT);
  expect(parameterValues(parameters, {})).toBeNull();
  expect(parameterValues(parameters, { name: "a", size: "3.5" })).toBeNull();
  expect(parameterValues(parameters, { name: "a", more: "[" })).toBeNull();
});
