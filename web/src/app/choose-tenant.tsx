// What is told tenant by tenant, for who sees several and has chosen none: a button for each.
import type { ReactNode } from "react";
import { Empty } from "@/parts/states";
import { useScope, useTenantNames } from "./scope";

const SHOWN_MAX = 24;

export function ChooseTenant({ children }: { children: ReactNode }) {
  const { choose } = useScope();
  const names = useTenantNames();
  return (
    <div className="panel">
      <Empty title="Choose a tenant">
        {children}
        <ul aria-label="Tenants" className="mt-3 flex flex-wrap justify-center gap-2">
          {names.slice(0, SHOWN_MAX).map((tenant) => (
            <li key={tenant}>
              <button
                type="button"
                className="button"
                onClick={() => choose({ tenant, project: null })}
              >
                {tenant}
              </button>
            </li>
          ))}
        </ul>
        {names.length > SHOWN_MAX && <p className="mt-2 text-xs">More of them: above.</p>}
      </Empty>
    </div>
  );
}
