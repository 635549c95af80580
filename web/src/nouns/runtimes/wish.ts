// What the flow for sharing an app gathers, and what follows from it. Pure: the page only shows it.
import type { Schemas } from "@/api/client";
import { parameterValues, type Manifest } from "@/nouns/apps/manifest";

export interface SharedWish {
  app: string;
  version: string;
  runtime: string;
  environment: string;
  /** The project that pays for the controller and for what is reserved. */
  owner: string;
  /** Those that get a part. */
  projects: string[];
  /** A label of nodes for the controller, "zone=a"; empty for any node. */
  controller: string;
  /** Reserved members by role, as typed. */
  reserved: Record<string, string>;
  /** Workers that are expected of a project, as typed: for the reckoning alone. */
  expected: Record<string, string>;
  withdrawMinutes: string;
  /** A price for one of a unit on another's workers, as typed; none where empty. */
  rates: Record<string, string>;
  parameters: Record<string, string>;
}

export const EMPTY: SharedWish = {
  app: "",
  version: "",
  runtime: "main",
  environment: "prod",
  owner: "",
  projects: [],
  controller: "",
  reserved: {},
  expected: {},
  withdrawMinutes: "5",
  rates: {},
  parameters: {},
};

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

/** A label as typed: its name and value; null if it is none, nothing for any node. */
export function labelOf(text: string): Record<string, string> | null {
  if (text.trim() === "") return {};
  const [name = "", value = "", ...rest] = text.trim().split("=");
  return rest.length === 0 && NAME.test(name) && NAME.test(value) ? { [name]: value } : null;
}

/** The wish as the API takes it; null while something is missing or cannot be. */
export function wishOf(
  wish: SharedWish,
  manifest: Manifest | undefined,
): Schemas["SharedRuntimeWish"] | null {
  if (manifest === undefined || wish.owner === "") return null;
  if (!NAME.test(wish.runtime) || !NAME.test(wish.environment)) return null;
  const controller = labelOf(wish.controller);
  const parameters = parameterValues(manifest.parameters, wish.parameters);
  const counts = wholeNumbers(wish.reserved);
  const rates = microRates(wish.rates);
  const minutes = wholeNumber(wish.withdrawMinutes);
  if (controller === null || parameters === null || counts === null || rates === null) return null;
  if (minutes === null || minutes > 1_440) return null;
  return {
    app: wish.app,
    version: wish.version,
    runtime: wish.runtime,
    environment: wish.environment,
    project: wish.owner,
    controller,
    counts,
    rates,
    parameters: parameters as Schemas["SharedRuntimeWish"]["parameters"],
    withdraw_within_ms: minutes * 60_000,
  };
}

function wholeNumber(text: string): number | null {
  return /^\d{1,4}$/.test(text) ? Number(text) : null;
}

function wholeNumbers(typed: Record<string, string>): Record<string, number> | null {
  const found: Record<string, number> = {};
  for (const [name, text] of Object.entries(typed)) {
    if (text === "") continue;
    const number = wholeNumber(text);
    if (number === null) return null;
    found[name] = number;
  }
  return found;
}

/** Prices as typed, in millionths; a price that has finer parts than that is none. */
export function microRates(typed: Record<string, string>): Record<string, number> | null {
  const found: Record<string, number> = {};
  for (const [unit, text] of Object.entries(typed)) {
    if (text === "") continue;
    const [, whole, part = ""] = /^(\d{1,3})(?:\.(\d{1,6}))?$/.exec(text) ?? [];
    if (whole === undefined) return null;
    const micros = Number(whole) * 1_000_000 + Number(part.padEnd(6, "0"));
    if (micros > 0) found[unit] = micros;
  }
  return found;
}

export interface BillLine {
  payer: string;
  what: string;
  micros: number;
  isBound: boolean;
  /** Whether it is paid from the first hour, or once the project gives it. */
  isSure: boolean;
}

/** Who would pay what an hour: what the plan reserves, and what is expected of projects. */
export function billOf(plan: Schemas["SharedPlan"], wish: SharedWish): BillLine[] {
  const lines: BillLine[] = plan.reserved.map((row) => ({
    payer: row.payer,
    what: `${row.count} × ${row.role}, reserved${row.part === "control_plane" ? " (steers it)" : ""}`,
    micros: row.micros_per_hour,
    isBound: row.is_upper_bound,
    isSure: true,
  }));
  const each = plan.contributed[0];
  for (const project of wish.projects) {
    const many = wholeNumber(wish.expected[project] ?? "") ?? 0;
    if (many === 0 || each === undefined) continue;
    lines.push({
      payer: project,
      what: `${many} × ${each.role}, given by ${project}`,
      micros: each.micros_per_hour * many,
      isBound: each.is_upper_bound,
      isSure: false,
    });
  }
  return lines;
}

/** The same by payer, dearest first. */
export function sumsOf(lines: BillLine[]): { payer: string; micros: number; isBound: boolean }[] {
  const sums = new Map<string, { payer: string; micros: number; isBound: boolean }>();
  for (const line of lines) {
    const sum = sums.get(line.payer) ?? { payer: line.payer, micros: 0, isBound: false };
    sum.micros += line.micros;
    sum.isBound ||= line.isBound;
    sums.set(line.payer, sum);
  }
  return [...sums.values()].sort((a, b) => b.micros - a.micros);
}
