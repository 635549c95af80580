// Quota and spend of a tenant or a project, each number with its unit and how old it is.
import type { Schemas } from "@/api/client";
import { Age } from "@/parts/age";
import { Badge } from "@/parts/badge";
import { Meter } from "@/parts/meter";
import { Panel } from "@/parts/panel";
import { Empty, Loaded } from "@/parts/states";
import { dimension, generation, money } from "@/words/amounts";
import { budgetTone } from "@/words/tones";
import { ChangeBudget, ChangeQuota } from "./change";
import { useBudget, useQuota, useUsage } from "./queries";

interface PlaceTerms {
  tenant: string;
  project: string | null;
}

type Room = Schemas["Room"];

/** "3 of 24"; the unit is in the name beside it. */
function told(unit: string, room: Room): string {
  const [, shown] = dimension(unit);
  return room.limit === null
    ? `${shown(room.used)}, no limit`
    : `${shown(room.used)} of ${shown(room.limit)}`;
}

export function QuotaPanel({ tenant, project }: PlaceTerms) {
  const query = useQuota(tenant, project);
  return (
    <Panel
      title="Quota"
      aside={
        <span className="flex items-center gap-2">
          {query.data?.is_default && "the default"}
          <ChangeQuota tenant={tenant} project={project} />
        </span>
      }
    >
      <Loaded query={query}>
        {(quota) => {
          if (quota === null) return <Empty title="No quota is set here" />;
          const shown = Object.entries(quota.dimensions).filter(
            ([, room]) => room.limit !== null || room.used > 0,
          );
          const kinds = Object.entries(quota.generations);
          const none = kinds.filter(([, room]) => room.limit === 0 && room.used === 0);
          const some = kinds.filter((each) => !none.includes(each));
          return (
            <div className="space-y-3">
              {shown.map(([unit, room]) => (
                <Meter
                  key={unit}
                  name={dimension(unit)[0]}
                  label={dimension(unit)[0]}
                  used={room.used}
                  limit={room.limit}
                  told={told(unit, room)}
                />
              ))}
              {some.map(([word, room]) => (
                <Meter
                  key={word}
                  name={generation(word)}
                  label={generation(word)}
                  used={room.used}
                  limit={room.limit}
                  told={told("gpu_count", room)}
                />
              ))}
              {none.length > 0 && (
                <p className="text-sm text-muted">
                  None of: {none.map(([word]) => generation(word)).join(", ")}
                </p>
              )}
            </div>
          );
        }}
      </Loaded>
    </Panel>
  );
}

export function SpendPanel({ tenant, project }: PlaceTerms) {
  const usage = useUsage(tenant);
  const budget = useBudget(tenant, project);
  const standing = budget.data;
  return (
    <Panel
      title="Spend this month"
      aside={
        <span className="flex items-center gap-2">
          {usage.data && <Age ms={usage.data.as_of_ms} />}
          <ChangeBudget tenant={tenant} project={project} />
        </span>
      }
    >
      <Loaded query={usage}>
        {(found) => {
          const rows = found.rows.filter((row) => project === null || row.project === project);
          const total =
            project === null
              ? found.total.cost_micros
              : rows.reduce((sum, row) => sum + row.cost_micros, 0);
          return (
            <div className="space-y-3">
              <p className="text-2xl font-semibold tracking-tight">
                {money(total)}{" "}
                <span className="text-base font-normal text-muted">{found.currency}</span>
              </p>
              {standing ? (
                <BudgetMeter standing={standing} />
              ) : (
                <p className="text-muted">No budget is set here.</p>
              )}
              <Shares rows={rows} total={total} by={project === null ? "project" : "tag"} />
            </div>
          );
        }}
      </Loaded>
    </Panel>
  );
}

function BudgetMeter({ standing }: { standing: Schemas["BudgetStanding"] }) {
  const limit = standing.budget.limit_micros;
  return (
    <div className="space-y-1">
      <Meter
        name="budget"
        label={
          <>
            budget <Badge word={standing.state} tone={budgetTone(standing.state)} />
          </>
        }
        used={standing.spent_micros}
        limit={limit}
        told={`${money(standing.spent_micros)} of ${money(limit)} ${standing.currency}`}
      />
      <p className="text-xs text-muted">
        heading for {money(standing.projected_micros)} {standing.currency}
      </p>
    </div>
  );
}

const SHARES_MAX = 5;

function Shares({
  rows,
  total,
  by,
}: {
  rows: Schemas["UsageRow"][];
  total: number;
  by: "project" | "tag";
}) {
  const sums = new Map<string, number>();
  for (const row of rows) {
    const name = row[by] ?? `no ${by}`;
    sums.set(name, (sums.get(name) ?? 0) + row.cost_micros);
  }
  const sorted = [...sums].sort((one, other) => other[1] - one[1]).slice(0, SHARES_MAX);
  if (sorted.length === 0 || total === 0) return null;
  return (
    <ul className="space-y-1 border-t border-line pt-2">
      {sorted.map(([name, cost]) => (
        <li key={name} className="flex justify-between gap-3">
          <span className="truncate">{name}</span>
          <span className="text-muted">
            {money(cost)} ({Math.round((cost / total) * 100)}%)
          </span>
        </li>
      ))}
    </ul>
  );
}
