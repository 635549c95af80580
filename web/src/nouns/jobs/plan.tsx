// A plan in words: where, whom it would hit, when, for how much.
import type { Schemas } from "@/api/client";
import { Denial } from "@/nouns/queue/why";
import { useNow } from "@/parts/age";
import { Badge } from "@/parts/badge";
import { Facts } from "@/parts/panel";
import { money } from "@/words/amounts";
import { assertNever } from "@/words/assert-never";
import { useSentences } from "@/words/server-words";

type Outcome =
  Schemas["WouldGrant"] | Schemas["WouldPreempt"] | Schemas["WouldQueue"] | Schemas["WouldRefuse"];

export function PlanView({ plan }: { plan: Outcome }) {
  return (
    <div className="space-y-3">
      <Head plan={plan} />
      <Facts
        rows={[
          ["price", `${money(plan.price.micros_per_hour)} ${plan.price.currency} an hour`],
          [
            "in all",
            `${money(plan.price.micros_total)} ${plan.price.currency}${plan.price.is_upper_bound ? " at most" : ""}`,
          ],
        ]}
      />
    </div>
  );
}

function Head({ plan }: { plan: Outcome }) {
  const now = useNow();
  const sentences = useSentences();
  switch (plan.plan) {
    case "grant":
      return (
        <p>
          <Badge word="runs at once" tone="good" /> on {plan.nodes.join(", ")}
        </p>
      );
    case "preempt":
      return (
        <div>
          <p>
            <Badge word="runs once others have gone" tone="warn" /> on {plan.nodes.join(", ")}
          </p>
          <ul className="mt-1 list-disc pl-5 text-muted">
            {plan.victims.map((victim, at) => (
              <li key={at}>
                {victim.lease_id === null ? "a lease" : `lease ${victim.lease_id}`} of{" "}
                {victim.tenant}, {victim.priority}, {victim.lease_class}
              </li>
            ))}
          </ul>
        </div>
      );
    case "queue":
      return (
        <div className="space-y-2">
          <p>
            <Badge word="would wait" tone="warn" /> may start:{" "}
            {sentences.estimate(plan.estimate, now)}
          </p>
          {plan.denied && <Denial denied={plan.denied} />}
        </div>
      );
    case "refuse":
      return (
        <div className="space-y-2">
          <Badge word="would be refused" tone="bad" />
          <Denial denied={plan.denied} />
        </div>
      );
    default:
      return assertNever(plan);
  }
}
