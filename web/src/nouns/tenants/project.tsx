// One project: what it may hold and holds, what it spends, who is in it, its jobs.
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { api, ask } from "@/api/client";
import { may, useWho } from "@/app/who";
import { JOB_COLUMNS } from "@/nouns/jobs/columns";
import { useJobs } from "@/nouns/jobs/queries";
import { Badge } from "@/parts/badge";
import { ObjectPage } from "@/parts/object-page";
import { Story } from "@/parts/story";
import { RowList } from "@/parts/row-list";
import { Empty, Loaded } from "@/parts/states";
import { QuotaPanel, SpendPanel } from "./money";
import { MembersPanel, RuntimesPanel } from "./people";

export function Page() {
  const { tenant, project } = useParams({ strict: false }) as { tenant: string; project: string };
  const params = { path: { tenant, project } };
  const query = useQuery({
    queryKey: ["tenants", tenant, "project", project],
    queryFn: () => ask(api.GET("/v1/tenants/{tenant}/projects/{project}", { params })),
  });
  const self = useWho();
  const jobs = useJobs({ tenant, project });
  return (
    <Loaded query={query}>
      {(found) => (
        <ObjectPage
          noun="project"
          name={`${tenant}/${project}`}
          state={
            <Badge
              word={found.is_open ? "open" : "closed"}
              tone={found.is_open ? "good" : "quiet"}
            />
          }
          command={`bailiwick quota show --tenant ${tenant} --project ${project}`}
        >
          {found.display_name !== "" && <p className="text-muted">{found.display_name}</p>}
          <div className="grid gap-4 md:grid-cols-2 xl:grid-cols-3">
            {may(self, "scheduler.quota.read", { tenant, project }) && (
              <QuotaPanel tenant={tenant} project={project} />
            )}
            {may(self, "metering.usage.read", { tenant, project }) && (
              <SpendPanel tenant={tenant} project={project} />
            )}
            <MembersPanel tenant={tenant} project={project} />
            <RuntimesPanel tenant={tenant} project={project} />
          </div>
          <section aria-label="Jobs" className="space-y-2">
            <h2 className="font-semibold">Jobs</h2>
            <RowList
              label={`Jobs of ${tenant}/${project}`}
              rows={jobs}
              columns={JOB_COLUMNS.filter((column) => column.id !== "place")}
              rowId={(job) => job.job_id}
              empty={<Empty title="No jobs yet" />}
              heightMax="28rem"
            />
          </section>
          <Story of={{ subject: "project", tenant, project }} />
        </ObjectPage>
      )}
    </Loaded>
  );
}
