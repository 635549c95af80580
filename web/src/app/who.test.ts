// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { firstScope } from "./scope";
import { homeOf, may, type Key, type Self } from "./who";

type Role = Self["roles"][number];

function self(...roles: Role[]): Self {
  return { principal: "ann", kind: "human", roles, token_id: "t", expires_ms: 0, keys: null };
}

const member: Role = {
  tenant: "lab",
  project: "vision",
  role: "project_member",
  keys: ["scheduler.queue.submit"],
};
const operator: Role = {
  tenant: null,
  project: null,
  role: "fleet_operator",
  keys: ["scheduler.node.operate"],
};

test("a role reaches what lies in its place, and nothing beside it", () => {
  const ann = self(member);
  expect(may(ann, "scheduler.queue.submit", { tenant: "lab", project: "vision" })).toBe(true);
  expect(may(ann, "scheduler.queue.submit", { tenant: "lab", project: "audio" })).toBe(false);
  expect(may(ann, "scheduler.queue.submit", { tenant: "lab" })).toBe(false);
  expect(may(ann, "scheduler.node.operate")).toBe(false);
  expect(may(self(operator), "scheduler.node.operate", { tenant: "lab" })).toBe(true);
});

test("a token that was narrowed allows no more than its keys", () => {
  const narrow = { ...self(operator), keys: [] };
  expect(may(narrow, "scheduler.node.operate")).toBe(false);
});

test("each opens the home of the widest role", () => {
  expect([homeOf(self()), homeOf(self(member)), homeOf(self(member, operator))]).toEqual([
    "nobody",
    "member",
    "operator",
  ]);
});

test("who keeps the isolation policy and runs no nodes opens the home for security", () => {
  const keys: Key[] = ["scheduler.isolation.set", "journal.record.read"];
  expect(homeOf(self({ ...operator, keys }))).toBe("security");
  expect(homeOf(self({ ...operator, keys: ["journal.record.read"] }))).toBe("auditor");
});

test("what somebody else chose in this browser is not chosen for me", () => {
  const kept = JSON.stringify({ principal: "bob", tenant: "rival", project: null });
  expect(firstScope(self(member), kept)).toEqual({ tenant: "lab", project: "vision" });
  const mine = JSON.stringify({ principal: "ann", tenant: "lab", project: null });
  expect(firstScope(self(member), mine)).toEqual({ tenant: "lab", project: null });
  expect(firstScope(self(operator), "not JSON")).toEqual({ tenant: null, project: null });
});
