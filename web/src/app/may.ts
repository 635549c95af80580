// What a person may ask for at a place, by the names of the API's actions. The server says it; a page
// only leaves out what would be refused.
import { useQuery } from "@tanstack/react-query";
import { api, ask } from "@/api/client";
import type { Key, Self } from "./who";

/** Whether an action may be asked for in a project, in a tenant or over the fleet; not until it is known. */
export function useMay(tenant: string | null, project: string | null): (action: string) => boolean {
  const query = {
    ...(tenant === null ? {} : { tenant }),
    ...(project === null ? {} : { project }),
  };
  const { data } = useQuery({
    queryKey: ["may", tenant, project],
    staleTime: 60_000,
    queryFn: async () => new Set((await ask(api.GET("/v1/may", { params: { query } }))).actions),
  });
  return (action) => data?.has(action) ?? false;
}

/** Whether he has a key by a role at that very project: a consent is no wider role's to give. */
export function hasOwnRole(self: Self, key: Key, place: { tenant: string; project: string }) {
  if (self.keys !== null && !self.keys.includes(key)) return false;
  return self.roles.some(
    (role) =>
      role.tenant === place.tenant && role.project === place.project && role.keys.includes(key),
  );
}
