import { expect, test } from "vitest";
import { hear, lanesOf, linesOf, nothingHeard, tenantsOf, type SearchStory } from "./search";

type Place = SearchStory["steps"][number]["places"][number];

function place(job: string, phase: Place["phase"], node: string | null = null): Place {
  return { job, phase, node, seats: node === null ? [] : [`${node}.1`] };
}

function step(number: number, places: Place[], lost: string[] = []): SearchStory["steps"][number] {
  const rest = { job: "J1", who: "bank", node: null, rule: null, sentence: "it happens." };
  return { number, do: "place", ...rest, places, lost };
}

const STORY: SearchStory = {
  question: "excuse",
  sentence: "The policy itself lets this happen.",
  excuse: { rule: "visit", line: 3 },
  fault: null,
  nodes: ["n1", "n2"],
  jobs: [
    { job: "J1", who: "bank", tenant: "bank", project: null },
    { job: "J2", who: "press", tenant: "press", project: null },
  ],
  steps: [
    step(1, [place("J1", "waiting"), place("J2", "away")]),
    step(2, [place("J1", "running", "n1"), place("J2", "waiting")], ["n2"]),
    step(3, [place("J1", "running", "n1"), place("J2", "running", "n1")]),
  ],
  broken: [
    { rule: "apart", line: 1, kind: "host", domain: "n1", jobs: ["J1", "J2"], sentence: "They." },
  ],
};

test("every event adds what it says, and an unknown word nothing", () => {
  const begun = nothingHeard("a policy");
  const going = hear(begun, { event: "progress", data: '{"round": 1, "rounds": 3}' });
  expect(going.progress).toMatchObject({ round: 1, rounds: 3 });
  const found = hear(going, { event: "found", data: JSON.stringify(STORY) });
  expect(hear(found, { event: "found", data: JSON.stringify(STORY) }).stories).toHaveLength(2);
  const over = hear(found, { event: "ended", data: '{"reason": "complete", "ways": 1}' });
  expect(over.end).toMatchObject({ ways: 1 });
  expect(over.stories).toHaveLength(1);
  expect(hear(over, { event: "hm", data: "?" })).toBe(over);
});

test("lines are marked only in the text that was searched", () => {
  const heard = { ...nothingHeard("one"), stories: [STORY] };
  expect([...linesOf(heard, "one")].sort()).toEqual([1, 3]);
  expect(linesOf(heard, "another").size).toBe(0);
  expect(linesOf(null, "one").size).toBe(0);
});

test("after each step everybody is in one lane, and who is away in none", () => {
  const lanes = lanesOf(STORY);
  const told = lanes.map((row) => row.map((lane) => lane.jobs.map((each) => each.job).join()));
  expect(told).toEqual([
    ["J1", "", ""],
    ["J2", "J1", ""],
    ["", "J1,J2", ""],
  ]);
  expect(lanes[1]!.map((lane) => lane.isLost)).toEqual([false, false, true]);
});

test("who came with a step is told, and at the end who must not be there", () => {
  const [, second, last] = lanesOf(STORY);
  expect(second![1]!.jobs.map((each) => each.isNew)).toEqual([true]);
  expect(second![1]!.jobs.map((each) => each.isWrong)).toEqual([false]);
  expect(last![1]!.jobs.map((each) => each.isNew)).toEqual([false, true]);
  expect(last![1]!.jobs.map((each) => each.isWrong)).toEqual([true, true]);
  expect(tenantsOf(STORY)).toEqual(["bank", "press"]);
});
