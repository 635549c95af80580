// From what is typed into the form to what the API takes. Pure, and strict: what makes no sense is no
// wish.
import type { Schemas } from "@/api/client";

export interface Wish {
  tenant: string;
  project: string;
  command: string;
  name: string;
  cpus: string;
  memory: string;
  gpus: string;
  generation: Schemas["HardwareGeneration"] | "";
  priority: Schemas["Priority"];
  leaseClass: Schemas["LeaseClass"];
  hours: string;
}

const GIB = 2 ** 30;

/** A command line as words: spaces part them, single and double quotes keep them together. */
export function splitCommand(text: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  let quote: string | null = null;
  for (const letter of text) {
    if (quote !== null) {
      if (letter === quote) quote = null;
      else word = (word ?? "") + letter;
    } else if (letter === "'" || letter === '"') {
      quote = letter;
      word ??= "";
    } else if (/\s/.test(letter)) {
      if (word !== null) words.push(word);
      word = null;
    } else {
      word = (word ?? "") + letter;
    }
  }
  if (word !== null) words.push(word);
  return quote === null ? words : [];
}

export function jobOf(wish: Wish): Schemas["NewJob"] | null {
  const command = splitCommand(wish.command);
  const [cpus, memory, gpus, hours] = [wish.cpus, wish.memory, wish.gpus, wish.hours].map(Number);
  const numbers = [cpus, memory, gpus, hours];
  if (
    command.length === 0 ||
    wish.tenant === "" ||
    numbers.some((each) => !(each !== undefined && each >= 0))
  )
    return null;
  const count = Math.floor(gpus ?? 0);
  return {
    tenant: wish.tenant,
    ...(wish.project === "" ? {} : { project: wish.project }),
    ...(wish.name.trim() === "" ? {} : { name: wish.name.trim() }),
    command,
    resources: {
      cpu_milli: Math.round((cpus ?? 0) * 1_000),
      mem_bytes: Math.round((memory ?? 0) * GIB),
    },
    ...(count > 0 ? { gpu_count: count } : {}),
    ...(count > 0 && wish.generation !== "" ? { gpu_generation: wish.generation } : {}),
    priority: wish.priority,
    lease_class: wish.leaseClass,
    ttl_ms: Math.max(1_000, Math.round((hours ?? 0) * 3_600_000)),
  };
}

/** A word of a command line, in quotes if it needs them. */
function quoted(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  return `'${word.split("'").join(`'"'"'`)}'`;
}

/** What the form shows of a job that a file asks for; the rest of it goes along unseen. */
export function wishOf(job: Schemas["NewJob"], before: Wish): Wish {
  return {
    ...before,
    tenant: job.tenant,
    project: job.project ?? "",
    command: (job.command ?? []).map(quoted).join(" "),
    name: job.name ?? "",
    cpus: String((job.resources?.cpu_milli ?? 0) / 1_000),
    memory: String((job.resources?.mem_bytes ?? 0) / GIB),
    gpus: String(job.gpu_count ?? 0),
    generation: job.gpu_generation ?? "",
    priority: job.priority ?? "normal",
    leaseClass: job.lease_class ?? "standard",
    hours: String((job.ttl_ms ?? 3_600_000) / 3_600_000),
  };
}

const SHOWN = new Set([
  "tenant",
  "project",
  "command",
  "name",
  "resources",
  "gpu_count",
  "gpu_generation",
  "priority",
  "lease_class",
  "ttl_ms",
]);
const USUAL: Record<string, unknown> = { wait: true, gang_size: 1 };

/** Whether a file that says this says nothing. */
function isUsual(name: string, value: unknown): boolean {
  if (name in USUAL) return value === USUAL[name];
  if (typeof value === "object" && value !== null) return Object.keys(value).length === 0;
  return value === null || value === 0 || value === false || value === "";
}

/** What a file says that the form has no field for. */
export function unseenOf(job: Schemas["NewJob"]): Partial<Schemas["NewJob"]> {
  const rest = Object.entries(job).filter(
    ([name, value]) => !SHOWN.has(name) && !isUsual(name, value),
  );
  const block = job.resources?.block_bytes ?? 0;
  return {
    ...(Object.fromEntries(rest) as Partial<Schemas["NewJob"]>),
    ...(block > 0 ? { resources: { block_bytes: block } } : {}),
  };
}

/** The form's job with what the file says besides. */
export function joined(
  job: Schemas["NewJob"] | null,
  unseen: Partial<Schemas["NewJob"]>,
): Schemas["NewJob"] | null {
  if (job === null) return null;
  return { ...unseen, ...job, resources: { ...unseen.resources, ...job.resources } };
}
