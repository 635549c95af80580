// What counts for an app at a place, line by line, each with where it comes from.
import type { Schemas } from "@/api/client";
import { Badge } from "@/parts/badge";
import { DataTable, type Cell } from "@/parts/data-table";
import { Panel } from "@/parts/panel";
import { Loaded } from "@/parts/states";
import { spell } from "@/words/amounts";
import { useEffective } from "./queries";

interface Terms {
  app: string;
  tenant: string | null;
  project: string | null;
}

const CELLS: Cell<Schemas["EffectiveLine"]>[] = [
  { header: "of what", cell: (row) => spell(row.what) },
  { header: "what counts", cell: (row) => lineSentence(row) },
  { header: "said by", cell: (row) => row.sources.join(", ") },
];

/** What a line comes to; where nobody said anything, that nothing is in the way. */
export function lineSentence({ rule, values }: Schemas["EffectiveLine"]): string {
  const told = values?.join(", ") || "nothing";
  switch (rule) {
    case "allow":
      return values === null ? "all" : `only ${told}`;
    case "deny":
      return values === null ? "none denied" : `all but ${told}`;
    case "limit":
      return values === null ? "no limit" : `at most ${told}`;
    default:
      return values === null ? spell(rule) : told;
  }
}

export function placeWord({ tenant, project }: Omit<Terms, "app">): string {
  if (tenant === null) return "the fleet";
  return project === null ? tenant : `${tenant}/${project}`;
}

export function EffectivePanel({ app, tenant, project }: Terms) {
  const query = useEffective({ app, tenant, project });
  return (
    <Panel
      title={`What counts in ${placeWord({ tenant, project })}`}
      flush
      aside={
        query.data && (
          <Badge
            word={query.data.is_enabled ? "enabled" : "not enabled"}
            tone={query.data.is_enabled ? "good" : "warn"}
          />
        )
      }
    >
      <Loaded query={query} lines={2}>
        {(policy) => (
          <>
            <DataTable
              label={`What counts for ${app}`}
              cells={CELLS}
              rows={policy.lines}
              rowId={(row) => `${row.rule} ${row.what}`}
            />
            {policy.host_granted.length > 0 && (
              <p className="px-4 py-2 text-muted">
                Versions that may have the host: {policy.host_granted.join(", ")}
              </p>
            )}
          </>
        )}
      </Loaded>
    </Panel>
  );
}
