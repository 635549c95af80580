// Sentences with places for numbers, as the server spells them (`/v1/words`): the same texts and the
// same rules as the command line's (src/bailiwick/phrases/templates.py), tested on the same values.
import { amount, count, money, span } from "./amounts";

export type Values = Readonly<Record<string, unknown>>;

const FIELD = /^\{([a-z_]+)(?:-([a-z_]+))?(?::([a-z]+)(?: ([A-Za-z_]+))?)?\}/;
const GUARD = /^\[([a-z_]+)(?:=([a-z0-9_]+))?\?/;
const PLAIN = /^[^{}[\]|]+/;

/** A value that the text names and nobody gave, or a text that follows no rule. */
export class TemplateError extends Error {}

/** The sentence for these values; moments are told from `nowMs`. */
export function fill(text: string, values: Values, nowMs: number): string {
  let at = 0;

  /** Up to the end, or to what ends an inner text; says nothing while it skips. */
  function read(says: boolean, inner: boolean): string {
    let told = "";
    while (at < text.length) {
      const rest = text.slice(at);
      const plain = PLAIN.exec(rest);
      const field = FIELD.exec(rest);
      const guard = GUARD.exec(rest);
      if (plain) {
        at += plain[0].length;
        told += plain[0];
      } else if (field) {
        at += field[0].length;
        if (says) told += spelled(field, values, nowMs);
      } else if (guard) {
        at += guard[0].length;
        told += choose(guard, says);
      } else if (inner && /^[|\]]/.test(rest)) {
        break;
      } else {
        throw new TemplateError(`no rule for ${rest} in ${text}`);
      }
    }
    return told;
  }

  function choose([, name = "", word]: RegExpExecArray, says: boolean): string {
    const value = values[name];
    const isSo = word === undefined ? isThere(value) : String(value) === word;
    const said = read(says && isSo, true);
    let otherwise = "";
    if (text[at] === "|") {
      at += 1;
      otherwise = read(says && !isSo, true);
    }
    if (text[at] !== "]") throw new TemplateError(`a choice is not closed in ${text}`);
    at += 1;
    return isSo ? said : otherwise;
  }

  return read(true, false);
}

function isThere(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

function spelled(field: RegExpExecArray, values: Values, nowMs: number): string {
  const [, name = "", less, how, word = ""] = field;
  const value = valueOf(values, name);
  if (how === undefined) return String(value);
  if (how === "scope") return (value as string[]).join("/");
  if (how === "leases") return (value as number[]).map((id) => `lease-${id}`).join(" ");
  const number =
    less === undefined
      ? (value as number)
      : Math.max(0, (value as number) - (valueOf(values, less) as number));
  switch (how) {
    case "count":
      return count(number);
    case "money":
      return money(number);
    case "span":
      return span(number);
    case "moment":
      return moment(number, nowMs);
    case "soon":
      return number <= nowMs ? "now" : `about ${moment(number, nowMs)}`;
    case "amount":
      return amount(String(valueOf(values, word)), number);
    case "plural":
      return number === 1 ? `1 ${word}` : `${count(number)} ${word}s`;
    default:
      throw new TemplateError(`no way to spell: ${how}`);
  }
}

function valueOf(values: Values, name: string): unknown {
  const value = values[name];
  if (value === undefined || value === null) throw new TemplateError(`no value: ${name}`);
  return value;
}

/** Date and time of day on this person's clock with its distance from UTC, and how far away it is. */
export function moment(atMs: number, nowMs: number): string {
  const away = atMs - nowMs;
  return `${clock(atMs)} (${away >= 0 ? `in ${span(away)}` : `${span(-away)} ago`})`;
}

/** The last moment that is told as a date: beyond the year 9999 there are none (as in
    src/bailiwick/phrases/times.py), and far beyond it even this clock throws. */
const LAST_MS = Date.UTC(9999, 11, 31);

/** Whether a moment can be told as a date. */
export function isDate(atMs: number): boolean {
  return atMs >= 0 && atMs <= LAST_MS;
}

export function clock(atMs: number): string {
  if (!isDate(atMs)) return `${atMs} ms`;
  const at = new Date(atMs);
  const east = -at.getTimezoneOffset();
  const pad = (part: number) => String(part).padStart(2, "0");
  const local = new Date(atMs + east * 60_000).toISOString().slice(0, 19).replace("T", " ");
  if (east === 0) return `${local}Z`;
  const apart = Math.abs(east);
  return `${local}${east < 0 ? "-" : "+"}${pad(Math.floor(apart / 60))}:${pad(apart % 60)}`;
}
