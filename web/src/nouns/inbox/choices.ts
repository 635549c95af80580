// What somebody chose, and what follows from one more tick.
import type { Schemas } from "@/api/client";

export type Settings = Schemas["NoticeSettings"];
export type Way = Schemas["NoticeChannel"];

export const WAYS: readonly Way[] = ["inbox", "email", "webhook"];

/** The ways of one kind, with one of them switched. */
export function switched(ways: readonly Way[], way: Way): Way[] {
  return WAYS.filter((each) => (each === way) !== ways.includes(each));
}

/** Whether anything can be sent that way. */
export function leadsTo(settings: Settings, way: Way): boolean {
  if (way === "email") return settings.email !== null;
  if (way === "webhook") return settings.webhook_url !== null;
  return true;
}
