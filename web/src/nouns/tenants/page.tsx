// One tenant: its projects, what it may hold and holds, what it spends, its people, its runtimes.
import { Link, useParams } from "@tanstack/react-router";
import { useProjects } from "@/app/scope";
import { may, useWho } from "@/app/who";
import { Badge } from "@/parts/badge";
import { ObjectPage } from "@/parts/object-page";
import { Story } from "@/parts/story";
import { Panel } from "@/parts/panel";
import { Empty, Loaded } from "@/parts/states";
import { TenantRecords } from "@/nouns/records/part";
import { MembersPanel, RuntimesPanel } from "./people";
import { QuotaPanel, SpendPanel } from "./money";
import { useTenant } from "./queries";

export function Page() {
  const { tenant } = useParams({ strict: false }) as { tenant: string };
  const query = useTenant(tenant);
  const self = useWho();
  return (
    <Loaded query={query}>
      {(found) => (
        <ObjectPage
          noun="tenant"
          name={found.tenant}
          state={
            <Badge
              word={found.is_open ? "open" : "closed"}
              tone={found.is_open ? "good" : "quiet"}
            />
          }
          command={`bailiwick quota show --tenant ${found.tenant}`}
        >
          {found.display_name !== "" && <p className="text-muted">{found.display_name}</p>}
          <div className="grid gap-4 md:grid-cols-2 xl:grid-cols-3">
            {may(self, "scheduler.quota.read", { tenant }) && (
              <QuotaPanel tenant={tenant} project={null} />
            )}
            {may(self, "metering.usage.read", { tenant }) && (
              <SpendPanel tenant={tenant} project={null} />
            )}
            <ProjectsPanel tenant={tenant} />
            <MembersPanel tenant={tenant} project={null} />
            <RuntimesPanel tenant={tenant} />
          </div>
          {may(self, "journal.record.read", { tenant }) && <TenantRecords tenant={tenant} />}
          <Story of={{ subject: "tenant", tenant }} />
        </ObjectPage>
      )}
    </Loaded>
  );
}

export function ProjectsPanel({ tenant }: { tenant: string }) {
  const query = useProjects(tenant);
  return (
    <Panel title="Projects">
      <Loaded query={query}>
        {(projects) =>
          projects.length === 0 ? (
            <Empty title="No projects yet">
              <code className="font-mono text-xs">
                bailiwick project create NAME --tenant {tenant}
              </code>
            </Empty>
          ) : (
            <ul className="space-y-1">
              {projects.map(({ project, display_name: title, is_open: isOpen }) => (
                <li key={project} className="flex items-baseline gap-2">
                  <Link
                    to="/tenants/$tenant/projects/$project"
                    params={{ tenant, project }}
                    className="link"
                  >
                    {project}
                  </Link>
                  <span className="min-w-0 flex-1 truncate text-muted">{title}</span>
                  {!isOpen && <Badge word="closed" tone="quiet" />}
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Panel>
  );
}
