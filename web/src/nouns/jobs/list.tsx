// All jobs of the chosen project, newest first.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useScope } from "@/app/scope";
import { PageHead } from "@/parts/object-page";
import { RowList } from "@/parts/row-list";
import { Empty } from "@/parts/states";
import { JOB_COLUMNS } from "./columns";
import { useJobs } from "./queries";

const PHASES: [string, string][] = [
  ["", "all"],
  ["waiting", "waiting"],
  ["starting,running,ending", "running"],
  ["failed,refused,lost,expired", "failed"],
];

export function Page() {
  const { scope } = useScope();
  const [mine, setMine] = useState(false);
  const [phase, setPhase] = useState("");
  const rows = useJobs({ ...scope, mine, phase });
  return (
    <>
      <PageHead title="Jobs">
        <label className="flex items-center gap-1.5">
          <input
            type="checkbox"
            checked={mine}
            onChange={(event) => setMine(event.target.checked)}
          />{" "}
          only mine
        </label>
        <select
          aria-label="Phase"
          className="field w-auto"
          value={phase}
          onChange={(event) => setPhase(event.target.value)}
        >
          {PHASES.map(([value, title]) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </select>
        <Link to="/run" className="button button-main">
          Run something
        </Link>
      </PageHead>
      <RowList
        label="Jobs"
        rows={rows}
        columns={JOB_COLUMNS}
        rowId={(job) => job.job_id}
        empty={
          <Empty title="No jobs here">
            <Link to="/run" className="link">
              Run something
            </Link>
            , or choose another project above.
          </Empty>
        }
      />
    </>
  );
}
