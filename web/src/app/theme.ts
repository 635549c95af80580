// Light or dark: as the system says, until a person says otherwise; remembered in this browser.
import { useSyncExternalStore } from "react";
import { assertNever } from "@/words/assert-never";

export type Choice = "system" | "light" | "dark";

const KEY = "bailiwick.theme";
const system = window.matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

export function choice(): Choice {
  const kept = localStorage.getItem(KEY);
  return kept === "light" || kept === "dark" ? kept : "system";
}

export function choose(next: Choice): void {
  if (next === "system") localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, next);
  applyTheme();
}

/** What comes after a choice when one button goes through all three. */
export function following(current: Choice): Choice {
  switch (current) {
    case "system":
      return "light";
    case "light":
      return "dark";
    case "dark":
      return "system";
    default:
      return assertNever(current);
  }
}

export function applyTheme(): void {
  const chosen = choice();
  const dark = chosen === "dark" || (chosen === "system" && system.matches);
  document.documentElement.dataset["theme"] = dark ? "dark" : "light";
  for (const each of listeners) each();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useThemeChoice(): Choice {
  return useSyncExternalStore(subscribe, choice);
}

/** Which of the two is shown; charts that draw by themselves ask. */
export function useShownTheme(): "light" | "dark" {
  const read = () => (document.documentElement.dataset["theme"] === "dark" ? "dark" : "light");
  return useSyncExternalStore(subscribe, read);
}

system.addEventListener("change", applyTheme);
