import { useQuery } from "@tanstack/react-query";
import { api, ask } from "@/api/client";
import { useRows } from "@/api/rows";
import type { Scope } from "@/app/scope";

export interface JobFilter extends Scope {
  mine?: boolean;
  phase?: string;
}

export function useJobs({ tenant, project, mine, phase }: JobFilter) {
  const wanted = {
    ...(tenant === null ? {} : { tenant }),
    ...(project === null ? {} : { project }),
    ...(mine ? { mine } : {}),
    ...(phase ? { phase } : {}),
  };
  return useRows(["jobs", wanted], (page) =>
    ask(api.GET("/v1/jobs", { params: { query: { ...wanted, ...page } } })),
  );
}

export function useJob(id: number) {
  return useQuery({
    queryKey: ["jobs", id],
    queryFn: () => ask(api.GET("/v1/jobs/{job_id}", { params: { path: { job_id: id } } })),
    // Phases of jobs are rows, not records: the journal does not tell of them.
    refetchInterval: (query) => (query.state.data?.ended_ms ? false : 2_000),
  });
}

export function cancelJob(id: number, dryRun: boolean) {
  const params = { path: { job_id: id }, query: { dry_run: String(dryRun) } };
  return ask(api.DELETE("/v1/jobs/{job_id}", { params }));
}
