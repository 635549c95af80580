// What a change would lead to, as its dry run answers it: numbers first, then the first of those
// that it would touch. What may not be seen was left out by the server.
import type { ReactNode } from "react";
import type { Schemas } from "@/api/client";
import { EntryLink, LeaseLink, NodeLink } from "@/parts/links";
import { count, dimension, generation, milli, money } from "@/words/amounts";
import { budgetTone } from "@/words/tones";
import { Age } from "./age";
import { Badge } from "./badge";

type Mode = Schemas["ModeConsequence"];
type Quota = Schemas["QuotaConsequence"];
type Budget = Schemas["BudgetConsequence"];

function many(number: number, noun: string): string {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}

function Box({ children }: { children: ReactNode }) {
  return (
    <section
      aria-label="What would follow"
      className="space-y-2 rounded-md border border-line bg-raised px-3 py-2"
    >
      {children}
    </section>
  );
}

export function ModeOutlook({ found }: { found: Mode | null | undefined }) {
  if (!found) return null;
  const rest = found.leaving - found.leases.length;
  return (
    <Box>
      {found.leaving === 0 ? (
        <p className="font-medium">No lease would be ended.</p>
      ) : (
        <p className="font-medium">
          {many(found.leaving, "lease")} would be ended, the last <Age ms={found.until_ms} />.
        </p>
      )}
      {found.gangs > 0 && (
        <p>
          {many(found.gangs, "gang")} would end as a whole
          {found.elsewhere > 0 && `, with ${many(found.elsewhere, "lease")} on other nodes`}.
        </p>
      )}
      {found.staying > 0 && <p>{many(found.staying, "lease")} would go on to the end.</p>}
      {found.leases.length > 0 && (
        <ul className="max-h-40 space-y-1 overflow-y-auto text-sm" tabIndex={0}>
          {found.leases.map((each, at) => (
            <li key={each.lease_id ?? `at-${at}`} className="flex flex-wrap gap-x-3">
              {each.lease_id === null ? "a lease" : <LeaseLink id={each.lease_id} />}
              <span>of {each.tenant}</span>
              <span>
                on <NodeLink name={each.node} />
              </span>
              <span className="text-muted">
                until <Age ms={each.until_ms} />
              </span>
            </li>
          ))}
        </ul>
      )}
      {rest > 0 && <p className="text-muted">and {count(rest)} more</p>}
      {found.room.map((each) => (
        <p key={each.generation}>
          Free {generation(each.generation)} in the fleet: {milli(each.free_milli)} now,{" "}
          <strong>{milli(each.free_after_milli)}</strong> then.
        </p>
      ))}
    </Box>
  );
}

export function QuotaOutlook({ found }: { found: Quota | null | undefined }) {
  if (!found) return null;
  const rows = [
    ...Object.entries(found.limits).map(
      ([word, each]) => [word, dimension(word)[0], dimension(word)[1], each] as const,
    ),
    ...Object.entries(found.gpu_limits).map(
      ([word, each]) => [word, generation(word), dimension("gpu_count")[1], each] as const,
    ),
  ].filter(([, , , each]) => each !== undefined);
  const isOver = rows.some(([, , , each]) => (each?.over ?? 0) > 0);
  return (
    <Box>
      {rows.length > 0 && (
        <table className="w-full text-sm">
          <thead>
            <tr className="text-left text-muted">
              <th className="font-normal">limit on</th>
              <th className="text-right font-normal">now</th>
              <th className="text-right font-normal">then</th>
              <th className="text-right font-normal">used</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(([word, name, told, each]) => (
              <tr key={word} className={each && each.over > 0 ? "text-bad" : ""}>
                <td>{name}</td>
                <td className="text-right">{limit(each?.before, told)}</td>
                <td className="text-right">{limit(each?.after, told)}</td>
                <td className="text-right">{told(each?.used ?? 0)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {isOver && (
        <p className="text-bad">What is above a limit goes on, but would not be renewed.</p>
      )}
      <AtOnce found={found.at_once} />
    </Box>
  );
}

function limit(value: number | null | undefined, told: (value: number) => string): string {
  return value === null || value === undefined ? "none" : told(value);
}

export function BudgetOutlook({ found }: { found: Budget | null | undefined }) {
  if (!found) return null;
  const unit = found.currency;
  return (
    <Box>
      {found.state !== null && (
        <p className="flex flex-wrap items-center gap-2">
          It would be <Badge word={found.state} tone={budgetTone(found.state)} />
        </p>
      )}
      {found.spent_micros !== null && found.projected_micros !== null && (
        <p>
          {money(found.spent_micros)} {unit} of it is spent; heading for{" "}
          {money(found.projected_micros)} {unit} with what runs now.
        </p>
      )}
      {found.state !== null &&
        (found.used_up_ms === null ? (
          <p>What runs now does not use it up.</p>
        ) : (
          <p className="text-bad">
            Used up <Age ms={found.used_up_ms} /> by what runs now.
          </p>
        ))}
      <AtOnce found={found.at_once} />
    </Box>
  );
}

function AtOnce({ found }: { found: Schemas["AtOnce"] | null }) {
  if (found === null) {
    return (
      <p className="text-muted">
        What it would do at once is not known: the fleet is too large to try it, or others are
        trying things.
      </p>
    );
  }
  return (
    <div className="space-y-1">
      {found.starts.count === 0 ? (
        <p>No waiting request would start at once.</p>
      ) : (
        <p>
          At once {many(found.starts.count, "waiting request")} would start.{" "}
          <Ones found={found.starts} />
        </p>
      )}
      {found.hopeless.count > 0 && (
        <p className="text-bad">
          For {many(found.hopeless.count, "waiting request")} waiting would help no more.{" "}
          <Ones found={found.hopeless} />
        </p>
      )}
      {found.ends.count > 0 && (
        <p className="text-bad">
          {many(found.ends.count, "lease")} would be ended.{" "}
          {found.ends.first.map((id) => (
            <span key={id}>
              <LeaseLink id={id} />{" "}
            </span>
          ))}
        </p>
      )}
      {found.others_end > 0 && (
        <p className="text-bad">
          {many(found.others_end, "lease")} of others would be ended to make room.
        </p>
      )}
    </div>
  );
}

function Ones({ found }: { found: Schemas["TouchedOnes"] }) {
  const rest = found.count - found.first.length;
  return (
    <>
      {found.first.map((id) => (
        <span key={id}>
          <EntryLink id={id} />{" "}
        </span>
      ))}
      {found.first.length > 0 && rest > 0 && (
        <span className="text-muted">and {count(rest)} more</span>
      )}
    </>
  );
}
