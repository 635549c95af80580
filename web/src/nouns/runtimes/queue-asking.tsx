// A project's own work in a shared runtime: its operator is asked for that project, and answers with
// nothing of another's.
import { useState } from "react";
import type { Schemas } from "@/api/client";
import { useMay } from "@/app/may";
import { useVersion } from "@/nouns/apps/queries";
import { Asking } from "@/nouns/instances/asking";
import { isAskable } from "@/nouns/instances/questions";
import { Select } from "@/parts/labelled";
import { Panel } from "@/parts/panel";
import { askRuntime } from "./queries";

type View = Schemas["SharedRuntimeView"];

/** For the projects with a part that this person sees; which of them he may ask for is the server's to say. */
export function QueueAsking({ view, prefers }: { view: View; prefers: string | null }) {
  const names = view.attachments
    .filter((each) => each.phase === "attached")
    .map((each) => each.project);
  const [chosen, setChosen] = useState("");
  const wanted = [chosen, prefers ?? ""].find((each) => names.includes(each));
  const project = wanted ?? names[0];
  if (project === undefined || view.runtime.is_leaving || !isAskable(view.runtime.phase)) return null;
  return <OneQueue key={project} {...{ view, names, project, setChosen }} />;
}

interface OneTerms {
  view: View;
  names: string[];
  project: string;
  setChosen: (project: string) => void;
}

function OneQueue({ view, names, project, setChosen }: OneTerms) {
  const { tenant, runtime, app, version } = view.runtime;
  const mayAsk = useMay(tenant, project)("shared_queue.read");
  const backend = useVersion(app, version).data?.read.backend;
  if (names.length === 1 && !mayAsk) return null;
  return (
    <Panel title={`Ask the queue of ${project}`} aside="each question is a record">
      <div className="space-y-3">
        {names.length > 1 && (
          <Select
            label="For the project"
            value={project}
            options={names.map((each) => [each, each] as const)}
            set={setChosen}
            className="max-w-60"
          />
        )}
        {!mayAsk && <p className="text-muted">You have no key to read the queue of {project}.</p>}
        {mayAsk && backend !== undefined && (
          <Asking
            backend={backend}
            send={(argv, key) => askRuntime({ tenant, runtime, project }, argv, key)}
            command={(words) =>
              `bailiwick shared call --tenant ${tenant} --project ${project} ${runtime} read -- ${words}`
            }
          />
        )}
      </div>
    </Panel>
  );
}
