// What a version's manifest says, as far as pages need it. It was checked by the server; what cannot
// be read here is left out rather than guessed.

export interface RoleWish {
  role: string;
  least: number;
  most: number;
  isControlPlane: boolean;
  shape: [string, string][];
}

export interface Parameter {
  name: string;
  type: "string" | "integer" | "boolean" | "other";
  title: string;
  description: string;
  fallback: unknown;
  choices: string[] | null;
  isRequired: boolean;
}

export interface Manifest {
  title: string;
  description: string;
  roles: RoleWish[];
  parameters: Parameter[];
  scopes: string[];
  modes: string[];
  units: string[];
  upgrades: [string, string][];
  runbook: string;
  /** The scheduler behind it. */
  backend: string;
}

type Row = Record<string, unknown>;

const isRow = (value: unknown): value is Row =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const rowOf = (value: unknown): Row => (isRow(value) ? value : {});
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];

export function readManifest(text: string): Manifest {
  const found = rowOf(JSON.parse(text));
  return {
    title: textOf(found.title),
    description: textOf(found.description),
    roles: Object.entries(rowOf(found.roles)).map(([role, spec]) => roleOf(role, rowOf(spec))),
    parameters: parametersOf(rowOf(found.parameters)),
    scopes: textsOf(found.control_plane_scopes),
    modes: textsOf(found.operating_modes),
    units: textsOf(found.billing_units),
    upgrades: (Array.isArray(found.upgrades) ? found.upgrades : [])
      .map(rowOf)
      .map((row) => [textOf(row.from), textOf(row.to)]),
    runbook: textOf(found.runbook),
    backend: textOf(found.runtime_backend),
  };
}

function roleOf(role: string, spec: Row): RoleWish {
  const count = spec.count;
  const [least, most] = Array.isArray(count) ? count : [count, count];
  return {
    role,
    least: typeof least === "number" ? least : 1,
    most: typeof most === "number" ? most : 1,
    isControlPlane: spec.control_plane === true,
    shape: Object.entries(rowOf(spec.shape)).map(([word, value]) => [word, String(value)]),
  };
}

function parametersOf(schema: Row): Parameter[] {
  const required = textsOf(schema.required);
  return Object.entries(rowOf(schema.properties)).map(([name, raw]) => {
    const spec = rowOf(raw);
    const choices = Array.isArray(spec.enum) ? spec.enum : null;
    return {
      name,
      type: typeOf(spec, choices),
      title: textOf(spec.title),
      description: textOf(spec.description),
      fallback: spec.default,
      choices: choices === null ? null : choices.map(String),
      isRequired: required.includes(name),
    };
  });
}

function typeOf(spec: Row, choices: unknown[] | null): Parameter["type"] {
  const word = spec.type ?? (choices === null ? "" : typeof choices[0]);
  if (word === "string" || word === "integer" || word === "boolean") return word;
  return word === "number" ? "integer" : "other";
}

/** What was typed, as the values that are sent; what was left empty is left out. */
export function parameterValues(
  parameters: Parameter[],
  typed: Record<string, string>,
): Record<string, unknown> | null {
  const values: Record<string, unknown> = {};
  for (const each of parameters) {
    const text = typed[each.name] ?? "";
    if (text === "") {
      if (each.isRequired && each.fallback === undefined) return null;
      continue;
    }
    const value = valueOf(each, text);
    if (value === undefined) return null;
    values[each.name] = value;
  }
  return values;
}

function valueOf(parameter: Parameter, text: string): unknown {
  switch (parameter.type) {
    case "string":
      return text;
    case "integer":
      return /^-?\d{1,15}$/.test(text) ? Number(text) : undefined;
    case "boolean":
      return text === "true";
    case "other":
      try {
        return JSON.parse(text) as unknown;
      } catch {
        return undefined;
      }
  }
}

/** How a shape reads: "2 cpus, 4GiB mem". */
export function shapeSentence(shape: [string, unknown][]): string {
  return shape.map(([word, value]) => `${String(value)} ${word}`).join(", ") || "nothing";
}
