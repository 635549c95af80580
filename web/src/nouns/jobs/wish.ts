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
