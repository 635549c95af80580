// Money of a tenant: what it spends over time and on what, how its budgets burn down, its invoices.
import { lazy, Suspense, useMemo, useState } from "react";
import type { Schemas } from "@/api/client";
import { useMay } from "@/app/may";
import { ChooseTenant } from "@/app/choose-tenant";
import { useScope } from "@/app/scope";
import { InvoiceList } from "@/nouns/invoices/part";
import { Age, moment } from "@/parts/age";
import { Badge } from "@/parts/badge";
import { CommandLine } from "@/parts/copy";
import { DataTable } from "@/parts/data-table";
import { Meter } from "@/parts/meter";
import { PageHead } from "@/parts/object-page";
import { Panel } from "@/parts/panel";
import { Empty, Failed, Loaded, Skeleton } from "@/parts/states";
import { fine } from "@/words/amounts";
import { budgetTone } from "@/words/tones";
import { useBudgets, useSpend } from "./queries";
import { bucketsOf, burnDown, seriesOf, sum, type Bucket, type By, type Range } from "./spending";

const SpendChart = lazy(async () => ({ default: (await import("./charts")).SpendChart }));
const BurnChart = lazy(async () => ({ default: (await import("./charts")).BurnChart }));

const RANGES: [Range, string][] = [
  ["hours", "24 hours"],
  ["days", "14 days"],
  ["months", "6 months"],
];
const BYS: [By, string][] = [
  ["project", "project"],
  ["tag", "tag"],
  ["generation", "generation"],
  ["class", "class"],
];

export function Page() {
  const { scope } = useScope();
  const { tenant, project } = scope;
  if (tenant === null) {
    return (
      <>
        <PageHead title="Money" />
        <ChooseTenant>Money is told tenant by tenant.</ChooseTenant>
      </>
    );
  }
  return <TenantMoney key={`${tenant}/${project}`} tenant={tenant} project={project} />;
}

function TenantMoney({ tenant, project }: { tenant: string; project: string | null }) {
  const [range, setRange] = useState<Range>("hours");
  const [by, setBy] = useState<By>(project === null ? "project" : "tag");
  // One moment for all of the page: else the stretches would move while it is open.
  const [nowMs] = useState(() => Date.now());
  const may = useMay(tenant, project);
  const buckets = useMemo(() => bucketsOf(range, nowMs), [range, nowMs]);
  const spend = useSpend(tenant, buckets, nowMs);
  const place = project === null ? tenant : `${tenant} / ${project}`;
  return (
    <>
      <PageHead title={`Money of ${place}`}>
        <Choice legend="Over" name="range" rows={RANGES} value={range} set={setRange} />
        <Choice legend="By" name="by" rows={BYS} value={by} set={setBy} />
      </PageHead>
      <div className="space-y-4">
        <Panel title={`Spend by ${by}`} aside="whole hours, days and months are UTC's, as on invoices">
          {spend.error !== null ? (
            <Failed error={spend.error} />
          ) : spend.usages === null ? (
            <Skeleton lines={7} />
          ) : (
            <Spend usages={spend.usages} buckets={buckets} by={by} project={project} />
          )}
        </Panel>
        {may("budget.list") && <Budgets tenant={tenant} project={project} nowMs={nowMs} />}
        {may("invoice.list") && <InvoiceList tenant={tenant} />}
        <section aria-label="The same on the command line" className="space-y-1">
          <h2 className="text-xs text-muted">The same on the command line</h2>
          <CommandLine command={`bailiwick usage report --tenant ${tenant}`} />
        </section>
      </div>
    </>
  );
}

interface ChoiceTerms<T extends string> {
  legend: string;
  name: string;
  rows: [T, string][];
  value: T;
  set: (value: T) => void;
}

function Choice<T extends string>({ legend, name, rows, value, set }: ChoiceTerms<T>) {
  return (
    <fieldset className="flex flex-wrap items-center gap-x-1 gap-y-1 print:hidden">
      <legend className="sr-only">{legend}</legend>
      <div className="flex overflow-hidden rounded-md border border-strong">
        {rows.map(([word, title]) => (
          <label
            key={word}
            className="cursor-pointer border-r border-strong px-2.5 py-1 text-sm last:border-0 has-checked:bg-accent has-checked:text-on-accent has-focus-visible:outline-2"
          >
            <input
              type="radio"
              name={name}
              className="sr-only"
              checked={value === word}
              onChange={() => set(word)}
            />
            {title}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

interface SpendTerms {
  usages: Schemas["Usage"][];
  buckets: Bucket[];
  by: By;
  project: string | null;
}

function Spend({ usages, buckets, by, project }: SpendTerms) {
  const series = useMemo(() => {
    const rows = usages.map(({ rows: all }) =>
      all.filter((row) => project === null || row.project === project),
    );
    return seriesOf(rows, by);
  }, [usages, by, project]);
  const currency = usages.at(-1)?.currency ?? "";
  const total = sum(series.map((each) => each.total));
  const isCut = usages.some((usage) => usage.rows_left > 0);
  if (series.length === 0) return <Empty title="Nothing was spent in this time" />;
  return (
    <div className="space-y-3">
      <p className="text-2xl font-semibold tracking-tight">
        {fine(total)} <span className="text-base font-normal text-muted">{currency}</span>
      </p>
      <Suspense fallback={<Skeleton lines={7} />}>
        <SpendChart buckets={buckets} series={series} currency={currency} />
      </Suspense>
      {isCut && <p className="text-warn">Some rows are left out, because there are very many.</p>}
      <DataTable
        label={`Spend by ${by}`}
        rows={series}
        rowId={(row) => row.name}
        cells={[
          { header: by, cell: (row) => row.name },
          {
            header: currency,
            align: "right",
            cell: (row) => <span className="tabular-nums">{fine(row.total)}</span>,
          },
          {
            header: "share",
            align: "right",
            cell: (row) => (total === 0 ? "-" : `${((row.total / total) * 100).toFixed(1)}%`),
          },
        ]}
      />
    </div>
  );
}

interface BudgetsTerms {
  tenant: string;
  project: string | null;
  nowMs: number;
}

function Budgets({ tenant, project, nowMs }: BudgetsTerms) {
  const query = useBudgets(tenant, true);
  const buckets = useMemo(() => bucketsOf("hours", nowMs), [nowMs]);
  const spend = useSpend(tenant, buckets, nowMs);
  return (
    <Loaded query={query}>
      {(rows) => {
        const shown = rows.filter((row) => project === null || row.project === project);
        if (shown.length === 0) {
          return (
            <Panel title="Budgets">
              <Empty title="No budget is set here">
                <code className="font-mono text-xs">
                  bailiwick budget set AMOUNT --tenant {tenant}
                </code>
              </Empty>
            </Panel>
          );
        }
        return (
          <div className={`grid gap-4 ${shown.length > 1 ? "lg:grid-cols-2" : ""}`}>
            {shown.map((standing) => (
              <BudgetPanel
                key={standing.project ?? ""}
                standing={standing}
                buckets={buckets}
                usages={spend.usages}
                nowMs={nowMs}
              />
            ))}
          </div>
        );
      }}
    </Loaded>
  );
}

interface BudgetTerms {
  standing: Schemas["BudgetStanding"];
  buckets: Bucket[];
  usages: Schemas["Usage"][] | null;
  nowMs: number;
}

function BudgetPanel({ standing, buckets, usages, nowMs }: BudgetTerms) {
  const { tenant, project, budget, currency } = standing;
  const burn = useMemo(() => {
    if (usages === null) return null;
    const costs = usages.map(({ rows }) =>
      sum(
        rows
          .filter((row) => project === null || row.project === project)
          .map((row) => row.cost_micros),
      ),
    );
    return burnDown(standing, buckets, costs, nowMs);
  }, [standing, buckets, usages, nowMs, project]);
  return (
    <Panel
      title={`Budget of ${project === null ? tenant : `${tenant} / ${project}`}`}
      aside={<Badge word={standing.state} tone={budgetTone(standing.state)} />}
    >
      <div className="space-y-3">
        <Meter
          name="budget"
          label="spent"
          used={standing.spent_micros}
          limit={budget.limit_micros}
          told={`${fine(standing.spent_micros)} of ${fine(budget.limit_micros)} ${currency}`}
        />
        {burn === null ? (
          <Skeleton lines={4} />
        ) : (
          <>
            <Suspense fallback={<Skeleton lines={4} />}>
              <BurnChart burn={burn} limitMicros={budget.limit_micros} currency={currency} />
            </Suspense>
            <p>
              At the pace of the last 24 hours ({fine(burn.microsPerDay)} {currency} a day){" "}
              {burn.emptyMs === null ? (
                <strong>it lasts{budget.until_ms ? " to its end" : ""}</strong>
              ) : (
                <strong>
                  it is used up <Age ms={burn.emptyMs} />
                </strong>
              )}
              {burn.emptyMs !== null && ` (${moment(burn.emptyMs)})`}. If all that runs now runs to
              its term, {fine(standing.projected_micros)} {currency} will be spent.
            </p>
          </>
        )}
      </div>
    </Panel>
  );
}
