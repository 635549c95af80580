// Why something waits, as a funnel: how many nodes there are, how many fell at each filter, how many
// are left. The numbers are the scheduler's own; nothing is counted here.
import type { Schemas } from "@/api/client";
import { count } from "@/words/amounts";
import { useSentences } from "@/words/server-words";

interface FunnelTerms {
  fallen: Record<string, number>;
  fitting: number;
}

export interface Step {
  filter: string;
  fell: number;
  left: number;
}

/** The steps, with how many nodes are left after each. */
export function stepsOf({ fallen, fitting }: FunnelTerms): { all: number; steps: Step[] } {
  const rows = Object.entries(fallen).filter(([, fell]) => fell > 0);
  const all = rows.reduce((sum, [, fell]) => sum + fell, fitting);
  let left = all;
  const steps = rows.map(([filter, fell]) => ({ filter, fell, left: (left -= fell) }));
  return { all, steps };
}

export function Funnel(terms: FunnelTerms) {
  const { all, steps } = stepsOf(terms);
  const sentences = useSentences();
  if (all === 0) return <p className="text-muted">No node was looked at yet.</p>;
  const width = (left: number) => `${Math.max(left > 0 ? 1.5 : 0, (left / all) * 100)}%`;
  const rows = [{ filter: "all nodes", fell: 0, left: all }, ...steps];
  return (
    <table className="w-full border-separate border-spacing-y-1">
      <caption className="sr-only">How many nodes fell at which filter</caption>
      <thead className="sr-only">
        <tr>
          <th>filter</th>
          <th>left</th>
          <th>fell</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row, at) => (
          <tr key={row.filter}>
            <td className="w-[38%] pr-3 align-middle">
              {at === 0 ? "all nodes" : sentences.word("filter_reason", row.filter as Schemas["FilterReason"])}
            </td>
            <td className="align-middle">
              <div className="flex items-center gap-2">
                <div className="h-5 flex-1 rounded bg-raised">
                  <div
                    className={`h-full rounded ${at === steps.length ? "bg-accent" : "bg-strong"}`}
                    style={{ width: width(row.left) }}
                  />
                </div>
                <span className="w-10 text-right font-medium">{count(row.left)}</span>
              </div>
            </td>
            <td className="w-20 pl-3 text-right align-middle text-bad">
              {row.fell > 0 ? `-${count(row.fell)}` : ""}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
