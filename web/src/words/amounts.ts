// How amounts read; the same as the command line's (src/bailiwick/phrases/amounts.py).

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"] as const;
const SPANS = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "m"],
  [1_000, "s"],
] as const;

/** A length of time in its two largest units. */
export function span(ms: number): string {
  const sign = ms < 0 ? "-" : "";
  let rest = Math.abs(Math.round(ms));
  if (rest < 1_000) return rest === 0 ? "0s" : `${sign}${rest}ms`;
  if (rest < 60_000) {
    const tenths = Math.floor((rest % 1_000) / 100);
    const whole = Math.floor(rest / 1_000);
    return tenths > 0 ? `${sign}${whole}.${tenths}s` : `${sign}${whole}s`;
  }
  const parts: [number, string][] = [];
  for (const [size, unit] of SPANS) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0 || parts.length > 0) parts.push([count, unit]);
  }
  const shown = parts.slice(0, 2).filter(([count]) => count > 0);
  return sign + shown.map(([count, unit]) => `${count}${unit}`).join(" ");
}

/** Thousandths as whole ones, with decimals only where there are any. */
export function milli(amount: number): string {
  const sign = amount < 0 ? "-" : "";
  const whole = Math.floor(Math.abs(amount) / 1_000);
  const part = Math.abs(amount) % 1_000;
  const decimals = part === 0 ? "" : `.${String(part).padStart(3, "0").replace(/0+$/, "")}`;
  return sign + count(whole) + decimals;
}

/** Millionths of a currency unit as units with two decimals, rounded half up. */
export function money(micros: number): string {
  const cents = Math.floor((Math.abs(micros) + 5_000) / 10_000);
  const sign = micros < 0 && cents > 0 ? "-" : "";
  return `${sign}${count(Math.floor(cents / 100))}.${String(cents % 100).padStart(2, "0")}`;
}

/** The same with four decimals where two would say next to nothing. */
export function fine(micros: number): string {
  if (micros === 0 || Math.abs(micros) >= 1_000_000) return money(micros);
  const sign = micros < 0 ? "-" : "";
  return sign + (Math.round(Math.abs(micros) / 100) / 10_000).toFixed(4);
}

/** Bytes in the largest unit that leaves at least one. */
export function size(bytes: number): string {
  let power = 0;
  while (power < UNITS.length - 1 && bytes >= 1024 ** (power + 1)) power += 1;
  const tenths = Math.floor((bytes * 10) / 1024 ** power);
  const whole = Math.floor(tenths / 10);
  const part = tenths % 10;
  return `${count(whole)}${part > 0 ? `.${part}` : ""} ${UNITS[power]}`;
}

const GROUPED = new Intl.NumberFormat("en-US");

export function count(number: number): string {
  // Most are small, and a table has hundreds of them in sight.
  return Number.isInteger(number) && number >= 0 && number < 1_000
    ? String(number)
    : GROUPED.format(number);
}

/** An amount of a resource or of a quota's dimension, with its unit. */
export function amount(unit: string, value: number): string {
  switch (unit) {
    case "cpu_milli":
      return value === 1_000 ? "1 core" : `${milli(value)} cores`;
    case "gpu_milli":
      return value === 1_000 ? "1 GPU" : `${milli(value)} GPUs`;
    case "gpu_count":
      return value === 1 ? "1 GPU" : `${count(value)} GPUs`;
    case "lease_count":
      return value === 1 ? "1 lease" : `${count(value)} leases`;
    case "mem_bytes":
      return `${size(value)} of memory`;
    case "block_bytes":
      return `${size(value)} of block storage`;
    case "gpu_vram":
      return `${size(value)} of GPU memory`;
    default:
      return `${count(value)} ${unit}`.trimEnd();
  }
}

/** What a dimension of a quota is called, and how its numbers read without the unit. */
export function dimension(unit: string): [string, (value: number) => string] {
  switch (unit) {
    case "cpu_milli":
      return ["cores", milli];
    case "gpu_milli":
      return ["GPUs", milli];
    case "gpu_count":
      return ["GPUs", count];
    case "lease_count":
      return ["leases", count];
    case "mem_bytes":
      return ["memory", size];
    case "block_bytes":
      return ["block storage", size];
    case "gpu_vram":
      return ["GPU memory", size];
    default:
      return [spell(unit), count];
  }
}

/** A closed word as people read it. */
export function spell(word: string): string {
  return word.replaceAll("_", " ");
}

/** A hardware generation as people say it. */
export function generation(word: string | null | undefined): string {
  if (word === null || word === undefined) return "any";
  const [maker = "", ...rest] = word.split("_");
  const names: Record<string, string> = {
    nvidia: "NVIDIA",
    amd: "AMD",
    intel: "Intel",
    google: "Google",
    aws: "AWS",
  };
  const isShort = (part: string) => part === "tpu" || part.startsWith("mi");
  const name = rest
    .map((part) =>
      isShort(part)
        ? part.toUpperCase()
        : part.replace(/^(?!v[0-9])./, (first) => first.toUpperCase()),
    )
    .join(" ");
  return names[maker] === undefined ? spell(word) : `${names[maker]} ${name}`;
}
