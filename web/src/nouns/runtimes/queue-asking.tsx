// One's own work in a shared runtime: its operator is asked for a project, as whoever asks, and answers
// with nothing of anybody else's.
import { useState } from "react";
import type { Schemas } from "@/api/client";
import { hasOwnRole } from "@/app/may";
import { useWho } from "@/app/who";
import { useVersion } from "@/nouns/apps/queries";
import { Asking } from "@/nouns/instances/asking";
import { isAskable } from "@/nouns/instances/questions";
import { Select } from "@/parts/labelled";
import { Panel } from "@/parts/panel";
import { askRuntime } from "./queries";

type View = Schemas["SharedRuntimeView"];

/** For the projects with a part where this person has a role himself: a wider one is no user there. */
export function QueueAsking({ view, prefers }: { view: View; prefers: string | null }) {
  const self = useWho();
  const { tenant } = view.runtime;
  const names = view.attachments
    .filter((each) => each.phase === "attached")
    .map((each) => each.project)
    .filter((project) => hasOwnRole(self, "scheduler.queue.read", { tenant, project }));
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
  const backend = useVersion(app, version).data?.read.backend;
  return (
    <Panel title={`Ask the queue of ${project}`} aside="your own work there; each question is a record">
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
        {backend !== undefined && (
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
