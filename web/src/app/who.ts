// Who looks at the page, and what the server says that he may do. No role is interpreted here: the
// keys come with it.
import { useSuspenseQuery } from "@tanstack/react-query";
import { readSelf } from "@/api/session";
import type { Schemas } from "@/api/client";

export type Self = Schemas["Self"];
export type Key = Schemas["RoleHeld"]["keys"][number];

export interface Place {
  tenant?: string | null;
  project?: string | null;
}

export const selfQuery = { queryKey: ["whoami"], queryFn: readSelf, staleTime: 60_000 } as const;

export function useWho(): Self {
  return useSuspenseQuery(selfQuery).data;
}

/** Whether a person may do something at a place: a wider role reaches what lies in it. */
export function may(self: Self, key: Key, place: Place = {}): boolean {
  if (self.keys !== null && !self.keys.includes(key)) return false;
  return self.roles.some((role) => role.keys.includes(key) && covers(role, place));
}

/** Whether he may anywhere. */
export function mayAnywhere(self: Self, key: Key): boolean {
  if (self.keys !== null && !self.keys.includes(key)) return false;
  return self.roles.some((role) => role.keys.includes(key));
}

function covers(role: Schemas["RoleHeld"], place: Place): boolean {
  if (role.tenant === null) return true;
  if (role.tenant !== (place.tenant ?? null)) return false;
  return role.project === null || role.project === (place.project ?? null);
}

export type Home = "operator" | "security" | "auditor" | "tenant" | "member" | "nobody";

/** Which home a person opens: the widest that he has. */
export function homeOf(self: Self): Home {
  if (may(self, "scheduler.node.operate")) return "operator";
  if (may(self, "scheduler.isolation.set")) return "security";
  if (may(self, "journal.record.read")) return "auditor";
  if (self.roles.some((role) => role.tenant !== null && role.project === null)) return "tenant";
  return self.roles.length > 0 ? "member" : "nobody";
}
