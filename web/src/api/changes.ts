// What became old, as `/v1/changes` tells it, and which queries of ours that makes old.
import { assertNever } from "@/words/assert-never";
import type { Schemas } from "./client";

export type Change = Schemas["Changed"];
export type ChangeNoun = Change["nouns"][number];

/** An event's data; what is not understood makes all old. */
export function readChange(data: string): Required<Change> {
  try {
    const { nouns, missed } = JSON.parse(data) as Change;
    return { nouns: Array.isArray(nouns) ? nouns.filter(isKnown) : [], missed: missed ?? false };
  } catch {
    return { nouns: [], missed: true };
  }
}

export const NOUNS: Record<ChangeNoun, true> = {
  accounts: true,
  apps: true,
  bookings: true,
  budgets: true,
  findings: true,
  graphs: true,
  instances: true,
  invoices: true,
  isolation: true,
  jobs: true,
  leases: true,
  maintenance: true,
  members: true,
  nodes: true,
  queue: true,
  quota: true,
  rates: true,
  records: true,
  runtimes: true,
  settings: true,
  tenants: true,
  usage: true,
};

function isKnown(noun: string): noun is ChangeNoun {
  return Object.hasOwn(NOUNS, noun);
}

/** The first words of the keys of the queries that show a noun. */
export function keysOf(noun: ChangeNoun): string[] {
  switch (noun) {
    case "apps":
      return ["apps", "entitlements"];
    case "usage":
      return ["usage", "spend"];
    case "budgets":
      return ["budgets", "spend"];
    case "tenants":
      return ["tenants", "may"];
    case "leases":
      return ["leases", "plan", "fleet"];
    case "nodes":
      return ["nodes", "attestation-policy", "fleet", "cells"];
    case "bookings":
    case "maintenance":
      return [noun, "nodes"];
    case "queue":
      return ["queue", "fleet", "cells"];
    case "accounts":
    case "findings":
    case "graphs":
    case "instances":
    case "invoices":
    case "isolation":
    case "jobs":
    case "members":
    case "quota":
    case "rates":
    case "records":
    case "runtimes":
    case "settings":
      return [noun];
    default:
      return assertNever(noun);
  }
}
