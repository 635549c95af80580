// What has been heard of a search for a way around the policy. Pure: events in, what to show out.
import type { Schemas } from "@/api/client";
import type { ServerEvent } from "@/api/sse";

export type SearchStory = Schemas["IsolationStory"];

export interface Heard {
  /** The text that is searched: what is found is about no other. */
  text: string;
  progress: Schemas["IsolationSearchProgress"] | null;
  stories: SearchStory[];
  nothing: Schemas["IsolationNothingFound"] | null;
  end: Schemas["IsolationSearchEnd"] | null;
}

export function nothingHeard(text: string): Heard {
  return { text, progress: null, stories: [], nothing: null, end: null };
}

/** What is known after one more event; a word of a newer server changes nothing. */
export function hear(heard: Heard, { event, data }: Pick<ServerEvent, "event" | "data">): Heard {
  switch (event) {
    case "progress":
      return { ...heard, progress: JSON.parse(data) as Heard["progress"] };
    case "found":
      return { ...heard, stories: [...heard.stories, JSON.parse(data) as SearchStory] };
    case "nothing":
      return { ...heard, nothing: JSON.parse(data) as Heard["nothing"] };
    case "ended":
      return { ...heard, end: JSON.parse(data) as Heard["end"] };
    default:
      return heard;
  }
}

/** Lines of the text by which what was found could be: of the rules, and of what excuses. */
export function linesOf(heard: Heard | null, text: string): Set<number> {
  if (heard === null || heard.text !== text) return new Set();
  const lines = heard.stories.flatMap((story) => [
    ...story.broken.map((broken) => broken.line),
    story.excuse?.line ?? null,
  ]);
  return new Set(lines.filter((line) => line !== null));
}

export interface LaneJob {
  job: string;
  tenant: string;
  phase: Schemas["StoryPlace"]["phase"];
  /** Whether it came here with this step. */
  isNew: boolean;
  isWrong: boolean;
}

export interface Lane {
  /** A node; null is where jobs wait. */
  node: string | null;
  isLost: boolean;
  jobs: LaneJob[];
}

/** Where everybody is after each step: one lane for who waits, and one for each node. */
export function lanesOf(story: SearchStory): Lane[][] {
  const tenants = new Map(story.jobs.map((job) => [job.job, job.tenant]));
  const wrong = new Set(story.broken.flatMap((broken) => broken.jobs));
  return story.steps.map((step, at) => {
    const before = new Map(
      at === 0 ? [] : story.steps[at - 1]!.places.map((place) => [place.job, place]),
    );
    const isLast = at === story.steps.length - 1;
    return [null, ...story.nodes].map((node) => ({
      node,
      isLost: node !== null && step.lost.includes(node),
      jobs: step.places
        .filter((place) => place.phase !== "away" && place.node === node)
        .map((place) => ({
          job: place.job,
          tenant: tenants.get(place.job) ?? "",
          phase: place.phase,
          isNew:
            before.get(place.job)?.node !== place.node ||
            before.get(place.job)?.phase !== place.phase,
          isWrong: isLast && wrong.has(place.job),
        })),
    }));
  });
}

/** The place of each tenant in the order of the story, by which its colour is chosen. */
export function tenantsOf(story: SearchStory): string[] {
  return [...new Set(story.jobs.map((job) => job.tenant))];
}
