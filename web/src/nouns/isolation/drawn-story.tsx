// A way around the policy as a picture: steps from top to bottom, a lane for who waits and one for
// each node, and in the lanes the jobs, coloured by tenant. Who cannot see it hears the steps: the
// lanes are hidden from screen readers, the sentences are the server's own and an ordered list.
import { spell } from "@/words/amounts";
import { lanesOf, tenantsOf, type Lane, type LaneJob, type SearchStory } from "./search";

const LOOKS = [
  "bg-info-soft text-info",
  "bg-warn-soft text-warn",
  "bg-good-soft text-good",
  "bg-raised text-ink",
];

interface StoryTerms {
  story: SearchStory;
  goTo: (line: number) => void;
}

export function DrawnStory({ story, goTo }: StoryTerms) {
  const lanes = lanesOf(story);
  const tenants = tenantsOf(story);
  const columns = { gridTemplateColumns: `repeat(${story.nodes.length + 1}, minmax(0, 1fr))` };
  return (
    <div data-story className="space-y-3">
      <p className="font-medium">{story.sentence}</p>
      <div className="sm:grid sm:grid-cols-[minmax(0,2fr)_minmax(0,3fr)] sm:gap-x-4">
        <div aria-hidden className="hidden sm:block" />
        <div aria-hidden className="grid gap-1 pb-1 text-center text-xs text-muted" style={columns}>
          {["waits", ...story.nodes].map((name) => (
            <span key={name} className="truncate">
              {name}
            </span>
          ))}
        </div>
      </div>
      <ol aria-label="Step by step" className="!mt-0">
        {story.steps.map((step, at) => (
          <li
            key={step.number}
            className="border-t border-line py-1.5 sm:grid sm:grid-cols-[minmax(0,2fr)_minmax(0,3fr)] sm:gap-x-4"
          >
            <p className="flex gap-2 pb-1 sm:pb-0">
              <span aria-hidden className="w-5 shrink-0 text-right text-muted">
                {step.number}.
              </span>
              <span className="min-w-0 break-words">{step.sentence}</span>
            </p>
            <div aria-hidden data-lanes className="grid gap-1" style={columns}>
              {lanes[at]!.map((lane) => (
                <LaneCell key={lane.node ?? ""} lane={lane} tenants={tenants} />
              ))}
            </div>
          </li>
        ))}
      </ol>
      <ul aria-label="What must not be" className="space-y-1 border-t border-line pt-2">
        {story.broken.map((broken) => (
          <li key={`${broken.rule} ${broken.domain} ${broken.jobs.join()}`} className="text-bad">
            <strong className="font-semibold">{broken.sentence}</strong>{" "}
            {broken.line !== null && <LineButton line={broken.line} goTo={goTo} />}
          </li>
        ))}
      </ul>
      {story.excuse !== null && story.excuse.line !== null && (
        <p className="text-sm text-muted">
          {story.excuse.rule}: <LineButton line={story.excuse.line} goTo={goTo} />
        </p>
      )}
    </div>
  );
}

function LineButton({ line, goTo }: { line: number; goTo: (line: number) => void }) {
  return (
    <button type="button" className="link" onClick={() => goTo(line)}>
      Go to line {line}
    </button>
  );
}

function LaneCell({ lane, tenants }: { lane: Lane; tenants: string[] }) {
  const isWrong = lane.jobs.some((job) => job.isWrong);
  const edge = isWrong ? "border-2 border-bad" : lane.node === null ? "" : "border border-line";
  return (
    <div
      data-lane={lane.node ?? "waits"}
      className={`min-h-8 min-w-0 space-y-1 rounded p-1 ${edge} ${lane.isLost ? "bg-raised" : ""}`}
    >
      {lane.isLost && <div className="text-center text-xs text-muted">lost</div>}
      {lane.jobs.map((job) => (
        <Chip key={job.job} job={job} look={LOOKS[tenants.indexOf(job.tenant) % LOOKS.length]!} />
      ))}
    </div>
  );
}

function Chip({ job, look }: { job: LaneJob; look: string }) {
  const edge = job.phase === "leaving" || job.phase === "claiming" ? "border-dashed" : "";
  return (
    <div
      className={`rounded border px-1 text-xs ${edge} ${look} ${job.isNew ? "border-current" : "border-transparent"}`}
    >
      <span className="font-semibold">{job.job}</span>{" "}
      <span className="break-words">{job.tenant}</span>
      {job.phase !== "running" && job.phase !== "waiting" && <span>, {spell(job.phase)}</span>}
    </div>
  );
}
