import type { Schemas } from "@/api/client";
import { Age, Lasted } from "@/parts/age";
import { Badge } from "@/parts/badge";
import { JobLink, NodeLink, PlaceLink } from "@/parts/links";
import type { Column } from "@/parts/table";
import { jobTone } from "@/words/tones";

type Job = Schemas["Job"];

export const JOB_COLUMNS: Column<Job>[] = [
  {
    id: "job",
    header: "job",
    width: "minmax(9rem,1fr)",
    cell: (job) => <JobLink id={job.job_id} name={job.name} />,
  },
  {
    id: "phase",
    header: "phase",
    width: "7rem",
    cell: (job) => <Badge word={job.phase} tone={jobTone(job.phase)} />,
  },
  {
    id: "command",
    header: "command",
    width: "minmax(12rem,2fr)",
    cell: (job) => <code className="font-mono text-xs">{job.command.join(" ")}</code>,
  },
  {
    id: "place",
    header: "project",
    width: "minmax(10rem,1fr)",
    cell: (job) => <PlaceLink tenant={job.tenant} project={job.project} />,
  },
  { id: "node", header: "node", width: "9rem", cell: (job) => <NodeLink name={job.node} /> },
  {
    id: "took",
    header: "ran",
    width: "6rem",
    align: "right",
    cell: (job) => <Lasted from={job.started_ms} to={job.ended_ms} />,
  },
  {
    id: "submitted",
    header: "submitted",
    width: "7rem",
    align: "right",
    cell: (job) => <Age ms={job.submitted_ms} />,
  },
];
