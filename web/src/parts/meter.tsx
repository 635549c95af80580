// How much of a limit is used, as a bar with its numbers beside it.
import type { ReactNode } from "react";

interface MeterTerms {
  label: ReactNode;
  name: string;
  used: number;
  limit: number | null;
  told: string;
  /** Full is what is wanted, not what is to be feared. */
  isGoal?: boolean;
}

export function Meter({ label, name, used, limit, told, isGoal = false }: MeterTerms) {
  const share = limit === null || limit === 0 ? 0 : Math.min(1, used / limit);
  const colour = isGoal ? "bg-accent" : share >= 1 ? "bg-bad" : share >= 0.85 ? "bg-warn" : "bg-accent";
  return (
    <div>
      <div className="flex justify-between gap-3">
        <span className="truncate">{label}</span>
        <span className="whitespace-nowrap text-muted">{told}</span>
      </div>
      {limit !== null && (
        <div
          role="meter"
          aria-label={name}
          aria-valuemin={0}
          aria-valuemax={limit}
          aria-valuenow={Math.min(used, limit)}
          aria-valuetext={told}
          className="mt-1 h-1.5 overflow-hidden rounded-full bg-raised"
        >
          <div className={`h-full rounded-full ${colour}`} style={{ width: `${share * 100}%` }} />
        </div>
      )}
    </div>
  );
}
