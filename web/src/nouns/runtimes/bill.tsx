// Who would pay for what: the plan's own lines, by payer, and what that means.
import type { Schemas } from "@/api/client";
import { Badge } from "@/parts/badge";
import { CopyButton } from "@/parts/copy";
import { span } from "@/words/amounts";
import { price } from "./tones";
import { billOf, sumsOf, type BillLine, type SharedWish } from "./wish";

interface Terms {
  plan: Schemas["SharedPlan"];
  wish: SharedWish;
}

export function Bill({ plan, wish }: Terms) {
  const lines = billOf(plan, wish);
  const most = Math.max(1, ...sumsOf(lines).map((sum) => sum.micros));
  return (
    <div className="space-y-3">
      <ul className="space-y-3" aria-label="Who pays an hour">
        {sumsOf(lines).map((sum) => (
          <li key={sum.payer}>
            <div className="flex items-baseline justify-between gap-3">
              <span className="font-medium">{sum.payer} pays</span>
              <span className="whitespace-nowrap">
                {sum.isBound && <span className="text-muted">at most </span>}
                {price(sum.micros)} <span className="text-muted">{plan.currency} an hour</span>
              </span>
            </div>
            <div aria-hidden className="mt-1 h-1.5 overflow-hidden rounded-full bg-raised">
              <div
                className="h-full rounded-full bg-accent"
                style={{ width: `${(sum.micros / most) * 100}%` }}
              />
            </div>
            <ul className="mt-1 space-y-0.5 text-sm">
              {lines
                .filter((line) => line.payer === sum.payer)
                .map((line) => (
                  <Line key={line.what} line={line} />
                ))}
            </ul>
          </li>
        ))}
      </ul>
      <Consequences plan={plan} owner={wish.owner} />
    </div>
  );
}

function Line({ line }: { line: BillLine }) {
  return (
    <li className="flex justify-between gap-3 text-muted">
      <span>
        {line.what} {!line.isSure && <Badge word="once it gives them" tone="quiet" />}
      </span>
      <span className="whitespace-nowrap">{price(line.micros)}</span>
    </li>
  );
}

function Consequences({ plan, owner }: { plan: Schemas["SharedPlan"]; owner: string }) {
  const rates = Object.entries(plan.rates).map(
    ([unit, micros]) => `${price(micros)} ${plan.currency} for each ${unit}`,
  );
  const roles = plan.contributable.map((role) => `a ${role}`).join(" or ") || "nothing";
  return (
    <ul className="list-disc space-y-1 pl-5">
      <li>
        The tenant owns it; <b>{owner}</b> is its owner record and pays for the controller and all that
        is reserved, whoever uses it.
      </li>
      <li>
        A project that gives {roles} pays for just that, out of its own quota, and takes it back
        within {span(plan.withdraw_within_ms)}.
      </li>
      {plan.contributed.map((each) => (
        <li key={each.role}>
          One {each.role} that is given costs its project {each.is_upper_bound && "at most "}
          {price(each.micros_per_hour)} {plan.currency} an hour.
        </li>
      ))}
      <li>
        {rates.length === 0
          ? "What a project uses on another's workers is shown, and not settled."
          : `A project owes another ${rates.join(", ")} on its workers; for the tenant that sums to nothing.`}
      </li>
      <li>Prices are those of now; what is used is charged by the rate card in force then.</li>
      <li className="break-all">
        The rule&apos;s digest is <code className="font-mono text-xs">{plan.digest}</code>{" "}
        <CopyButton text={plan.digest} label="Copy the digest" />
      </li>
    </ul>
  );
}
