// Who has which role, and the runtimes that projects share.
import { may, useWho } from "@/app/who";
import { Badge } from "@/parts/badge";
import { Panel } from "@/parts/panel";
import { Empty, Loaded } from "@/parts/states";
import { spell } from "@/words/amounts";
import { useMembers, useRuntimes } from "./queries";

export function MembersPanel({ tenant, project }: { tenant: string; project: string | null }) {
  const self = useWho();
  const isOn = may(self, "iam.member.read", { tenant, project });
  const query = useMembers(tenant, project, isOn);
  if (!isOn) return null;
  return (
    <Panel title="Members">
      <Loaded query={query}>
        {(members) =>
          members.length === 0 ? (
            <Empty title="Nobody has a role here yet" />
          ) : (
            <ul className="space-y-1">
              {members.map((each) => (
                <li key={each.member} className="flex justify-between gap-3">
                  <span className="truncate">{each.member}</span>
                  <span className="text-muted">{spell(each.role)}</span>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Panel>
  );
}

export function RuntimesPanel({ tenant }: { tenant: string }) {
  const self = useWho();
  const isOn = may(self, "scheduler.shared_runtime.read", { tenant });
  const query = useRuntimes(tenant, isOn);
  if (!isOn) return null;
  return (
    <Panel title="Shared runtimes">
      <Loaded query={query}>
        {(runtimes) =>
          runtimes.length === 0 ? (
            <Empty title="None">
              <code className="font-mono text-xs">bailiwick shared --help</code> says how to make
              one.
            </Empty>
          ) : (
            <ul className="space-y-1">
              {runtimes.map((each) => (
                <li key={each.runtime} className="flex items-center justify-between gap-3">
                  <span className="truncate">
                    {each.runtime} <span className="text-muted">{each.app}</span>
                  </span>
                  <Badge word={each.phase} tone={each.phase === "running" ? "good" : "quiet"} />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Panel>
  );
}
