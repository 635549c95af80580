// Who has which role, and the runtimes that projects share.
import { Link } from "@tanstack/react-router";
import { useMay } from "@/app/may";
import { may, useWho } from "@/app/who";
import { RuntimeLink } from "@/nouns/runtimes/list";
import { instanceTone } from "@/nouns/runtimes/tones";
import { Badge } from "@/parts/badge";
import { Panel } from "@/parts/panel";
import { Empty, Loaded } from "@/parts/states";
import { spell } from "@/words/amounts";
import { GiveRole, TakeRole } from "./roles";
import { useMembers, useRuntimes } from "./queries";

export function MembersPanel({ tenant, project }: { tenant: string; project: string | null }) {
  const self = useWho();
  const isOn = may(self, "iam.member.read", { tenant, project });
  const query = useMembers(tenant, project, isOn);
  if (!isOn) return null;
  return (
    <Panel title="Members" aside={<GiveRole tenant={tenant} project={project} />}>
      <Loaded query={query}>
        {(members) =>
          members.length === 0 ? (
            <Empty title="Nobody has a role here yet" />
          ) : (
            <ul className="space-y-1">
              {members.map((each) => (
                <li key={each.member} className="flex items-center justify-between gap-3">
                  <span className="truncate">{each.member}</span>
                  <span className="flex items-center gap-2 text-muted">
                    {spell(each.role)}
                    <TakeRole tenant={tenant} project={project} member={each.member} />
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Panel>
  );
}

export function RuntimesPanel({ tenant, project }: { tenant: string; project?: string }) {
  const self = useWho();
  const isOn = may(self, "scheduler.shared_runtime.read", { tenant, project });
  const mayShare = useMay(tenant, null)("shared_runtime.create");
  const query = useRuntimes(tenant, isOn);
  if (!isOn) return null;
  return (
    <Panel title="Shared runtimes">
      <Loaded query={query}>
        {(runtimes) =>
          runtimes.length === 0 ? (
            <Empty title="None">
              {mayShare && (
                <Link to="/tenants/$tenant/share" params={{ tenant }} className="link">
                  Share an app between projects
                </Link>
              )}
            </Empty>
          ) : (
            <ul className="space-y-1">
              {runtimes.map((each) => (
                <li key={each.runtime} className="flex items-center justify-between gap-3">
                  <span className="truncate">
                    <RuntimeLink tenant={tenant} runtime={each.runtime} />{" "}
                    <span className="text-muted">{each.app}</span>
                  </span>
                  <Badge word={each.phase} tone={instanceTone(each.phase)} />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Panel>
  );
}
