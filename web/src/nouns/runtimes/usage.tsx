// What each project used on whose workers this month, and what is settled between them.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Schemas } from "@/api/client";
import { useMay } from "@/app/may";
import { Age } from "@/parts/age";
import { DataTable, type Cell } from "@/parts/data-table";
import { TextField } from "@/parts/labelled";
import { Panel } from "@/parts/panel";
import { Failed, Loaded } from "@/parts/states";
import { useVersion } from "@/nouns/apps/queries";
import { count } from "@/words/amounts";
import { acceptSettlement, planSettlement, useSharedUsage } from "./queries";
import { price } from "./tones";
import { microRates } from "./wish";

type View = Schemas["SharedRuntimeView"];
type Row = Schemas["SharedUseSum"];

/** This calendar month, as invoices have it. */
function month(): [number, number] {
  const now = new Date();
  const from = Date.UTC(now.getUTCFullYear(), now.getUTCMonth());
  return [from, Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)];
}

export function Usage({ view }: { view: View }) {
  const { tenant, runtime } = view.runtime;
  const [[from, to]] = useState(month);
  const query = useSharedUsage({ tenant, runtime }, from, to);
  const may = useMay(tenant, null);
  return (
    <Panel
      title="Used on each other's workers, this month"
      flush
      aside={
        query.data &&
        (query.data.told_until_ms === null ? (
          "nothing was told yet"
        ) : (
          <>
            told until <Age ms={query.data.told_until_ms} />
          </>
        ))
      }
    >
      <Loaded query={query} lines={2}>
        {(usage) => (
          <>
            {usage.rows.length > 0 && (
              <DataTable
                label="Who used what on whose workers"
                cells={cellsOf(usage.currency)}
                rows={usage.rows}
                rowId={(row) => `${row.user}/${row.source}/${row.unit}`}
              />
            )}
            <div className="space-y-2 px-4 py-3">
              <Settled usage={usage} />
              {may("shared_settlement.set") && !view.runtime.is_leaving && <Settle view={view} />}
            </div>
          </>
        )}
      </Loaded>
    </Panel>
  );
}

function cellsOf(currency: string): Cell<Row>[] {
  return [
    { header: "who used", cell: (row) => row.user },
    {
      header: "on workers of",
      cell: (row) => (row.user === row.source ? "its own" : row.source),
    },
    { header: "how much", align: "right", cell: (row) => `${count(row.quantity)} ${row.unit}` },
    {
      header: "beyond what was held",
      align: "right",
      cell: (row) => (row.beyond > 0 ? count(row.beyond) : "-"),
    },
    {
      header: "owes",
      align: "right",
      cell: (row) => (row.owed_micros > 0 ? `${price(row.owed_micros)} ${currency}` : "-"),
    },
    {
      header: "records",
      align: "right",
      cell: (row) => (row.reports === 1 ? row.first_seq : `${row.first_seq} to ${row.last_seq}`),
    },
  ];
}

function Settled({ usage }: { usage: Schemas["SharedUsage"] }) {
  if (usage.settlement === null) {
    return <p className="text-muted">Nothing of it is settled between projects.</p>;
  }
  return (
    <div>
      <p>
        Settled by record {usage.settlement.seq}, which {usage.settlement.accepted_by} accepted.
      </p>
      <ul className="list-disc pl-5">
        {usage.balances.map((each) => (
          <li key={each.project}>
            {each.project} {each.owed_micros >= 0 ? "owes" : "is owed"}{" "}
            {price(Math.abs(each.owed_micros))} {usage.currency}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Another price: its rule first, then the acceptance of just that rule. */
function Settle({ view }: { view: View }) {
  const { tenant, runtime, app, version } = view.runtime;
  const client = useQueryClient();
  const units = (useVersion(app, version).data?.read.units ?? []).filter((unit) =>
    unit.endsWith("_second"),
  );
  const [typed, setTyped] = useState<Record<string, string>>({});
  const rates = microRates(typed);
  const plan = useMutation({
    mutationFn: (wanted: Record<string, number>) =>
      planSettlement({ tenant, runtime }, { rates: wanted }),
  });
  const accept = useMutation({
    mutationFn: async (found: Schemas["SettlementPlan"]) => {
      const body = { rates: found.rates, accepted_digest: found.digest };
      await acceptSettlement({ tenant, runtime }, body, true);
      return acceptSettlement({ tenant, runtime }, body, false);
    },
    onSuccess: async () => {
      plan.reset();
      await client.invalidateQueries({ queryKey: ["runtimes"] });
    },
  });
  if (units.length === 0) return null;
  return (
    <details>
      <summary className="cursor-pointer py-1 font-medium">Settle it otherwise</summary>
      <div className="max-w-xl space-y-3 pt-2">
        {units.map((unit) => (
          <TextField
            key={unit}
            label={`Price of one ${unit} on another's workers`}
            value={typed[unit] ?? ""}
            placeholder="not settled"
            set={(rate) => {
              setTyped({ ...typed, [unit]: rate });
              plan.reset();
            }}
          />
        ))}
        <button
          type="button"
          className="button"
          disabled={rates === null || plan.isPending}
          onClick={() => rates !== null && plan.mutate(rates)}
        >
          Show the rule
        </button>
        {plan.isError && <Failed error={plan.error} />}
        {accept.isError && <Failed error={accept.error} />}
        {plan.data !== undefined && (
          <div className="space-y-2 rounded-md bg-raised p-3">
            <p>{ruleSentence(plan.data)}</p>
            <button
              type="button"
              className="button button-main"
              disabled={accept.isPending}
              onClick={() => accept.mutate(plan.data)}
            >
              Accept this rule
            </button>
          </div>
        )}
      </div>
    </details>
  );
}

function ruleSentence(plan: Schemas["SettlementPlan"]): string {
  const rates = Object.entries(plan.rates);
  if (rates.length === 0) return "Nothing is settled between projects, from now on.";
  const told = rates.map(([unit, micros]) => `${price(micros)} ${plan.currency} for each ${unit}`);
  return `From now on a project owes another ${told.join(", ")} on its workers; for the tenant that sums to nothing.`;
}
