// The tenant and project that a person works in: chosen once, remembered in this browser, used by
// the pages that are about one. What may be chosen is what the server lists for him.
import { useQuery } from "@tanstack/react-query";
import { createContext, use, useState, type ReactNode } from "react";
import { api, ask, type Schemas } from "@/api/client";
import { useWho, type Self } from "./who";

export interface Scope {
  tenant: string | null;
  project: string | null;
}

interface ScopeValue {
  scope: Scope;
  choose: (scope: Scope) => void;
}

const KEY = "bailiwick.scope";
const ScopeContext = createContext<ScopeValue | null>(null);

export function ScopeProvider({ children }: { children: ReactNode }) {
  const self = useWho();
  const [scope, setScope] = useState(() => firstScope(self, localStorage.getItem(KEY)));
  function choose(next: Scope) {
    localStorage.setItem(KEY, JSON.stringify({ principal: self.principal, ...next }));
    setScope(next);
  }
  return <ScopeContext value={{ scope, choose }}>{children}</ScopeContext>;
}

export function useScope(): ScopeValue {
  const found = use(ScopeContext);
  if (found === null) throw new Error("no scope around this page");
  return found;
}

/** What was chosen last by the same person and is still his, else his first role's place. */
export function firstScope(self: Self, kept: string | null): Scope {
  const fleet = self.roles.some((role) => role.tenant === null);
  const found = parse(kept);
  if (found !== null && found.principal === self.principal) {
    const mine = self.roles.some((role) => role.tenant === found.tenant);
    if (fleet || mine) return { tenant: found.tenant, project: found.project };
  }
  if (fleet) return { tenant: null, project: null };
  const role = self.roles[0];
  return { tenant: role?.tenant ?? null, project: role?.project ?? null };
}

function parse(kept: string | null): (Scope & { principal: string }) | null {
  try {
    const found: unknown = JSON.parse(kept ?? "null");
    if (typeof found !== "object" || found === null) return null;
    const { principal, tenant, project } = found as Record<string, unknown>;
    if (typeof principal !== "string") return null;
    const text = (value: unknown) => (typeof value === "string" ? value : null);
    return { principal, tenant: text(tenant), project: text(project) };
  } catch {
    return null;
  }
}

export function useTenants() {
  return useQuery({
    queryKey: ["tenants"],
    queryFn: async (): Promise<Schemas["Tenant"][]> =>
      (await ask(api.GET("/v1/tenants", { params: { query: { limit: 500 } } }))).items,
  });
}

/** The tenants that a person may see, and those in which he has a role. */
export function useTenantNames(): string[] {
  const self = useWho();
  const listed = useTenants().data ?? [];
  const held = self.roles.flatMap((role) => (role.tenant === null ? [] : [role.tenant]));
  return [...new Set([...listed.map((each) => each.tenant), ...held])].sort();
}

export function useProjects(tenant: string | null) {
  return useQuery({
    queryKey: ["tenants", tenant, "projects"],
    enabled: tenant !== null,
    queryFn: async (): Promise<Schemas["Project"][]> => {
      const params = { path: { tenant: tenant ?? "" }, query: { limit: 500 } };
      return (await ask(api.GET("/v1/tenants/{tenant}/projects", { params }))).items;
    },
  });
}

export function ScopeSwitcher() {
  const self = useWho();
  const { scope, choose } = useScope();
  const names = useTenantNames();
  const projects = useProjects(scope.tenant).data ?? [];
  const everywhere = self.roles.some((role) => role.tenant === null);
  const parts = new Set([
    ...projects.map((each) => each.project),
    ...(scope.project ? [scope.project] : []),
  ]);
  return (
    <div className="flex min-w-0 flex-1 items-center gap-1 sm:flex-none">
      <select
        aria-label="Tenant"
        className="field min-w-0 sm:w-44"
        value={scope.tenant ?? ""}
        onChange={(event) => choose({ tenant: event.target.value || null, project: null })}
      >
        {(everywhere || scope.tenant === null) && <option value="">all tenants</option>}
        {names.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <select
        aria-label="Project"
        className="field min-w-0 sm:w-40"
        value={scope.project ?? ""}
        disabled={scope.tenant === null}
        onChange={(event) => choose({ ...scope, project: event.target.value || null })}
      >
        <option value="">all projects</option>
        {[...parts].map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </div>
  );
}
