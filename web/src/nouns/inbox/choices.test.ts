import { expect, test } from "vitest";
import { leadsTo, switched, type Settings } from "./choices";

const SETTINGS: Settings = {
  choices: [],
  email: null,
  pending_email: "ann@lab.example",
  webhook_url: null,
  sends_mail: true,
  withheld: 0,
  deliveries: [],
};

test("a way is switched on and off, and the others stay in their order", () => {
  expect(switched(["inbox"], "email")).toEqual(["inbox", "email"]);
  expect(switched(["webhook"], "inbox")).toEqual(["inbox", "webhook"]);
  expect(switched(["inbox", "email"], "inbox")).toEqual(["email"]);
  expect(switched(["inbox"], "inbox")).toEqual([]);
});

test("an address leads somewhere once its code was shown", () => {
  expect(leadsTo(SETTINGS, "inbox")).toBe(true);
  expect(leadsTo(SETTINGS, "email")).toBe(false);
  expect(leadsTo({ ...SETTINGS, email: "ann@lab.example" }, "email")).toBe(true);
  expect(leadsTo(SETTINGS, "webhook")).toBe(false);
  expect(leadsTo({ ...SETTINGS, webhook_url: "http://127.0.0.1/" }, "webhook")).toBe(true);
});
