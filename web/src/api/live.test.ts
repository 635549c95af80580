import { expect, test } from "vitest";
import { openLive, type LiveState } from "./live";

function stream(text: string): Response {
  return new Response(text, { headers: { "content-type": "text/event-stream" } });
}

test("a connection that was lost goes on after the last number that was heard", async () => {
  const asked: (string | undefined)[] = [];
  const states: LiveState[] = [];
  const heard: string[] = [];
  const answers = [
    stream("event: a\ndata: 1\nid: 41\n\n"),
    stream("event: b\ndata: 2\nid: 42\n\n"),
  ];
  await new Promise<void>((done) => {
    const feed = openLive({
      address: "/v1/watch",
      pauseMs: () => 1,
      onState: (state) => states.push(state),
      onEvent: (event) => heard.push(event.event),
      fetcher: async (_, init) => {
        asked.push((init?.headers as Record<string, string>)["Last-Event-ID"]);
        const next = answers.shift();
        if (next !== undefined) return next;
        feed.close();
        done();
        throw new TypeError("gone");
      },
    });
  });
  expect(asked).toEqual([undefined, "41", "42"]);
  expect(heard).toEqual(["a", "b"]);
  expect(states.slice(0, 4)).toEqual(["connecting", "live", "lost", "lost"]);
});

test("whoever may not watch is not tried again", async () => {
  let calls = 0;
  const state = await new Promise<LiveState>((done) => {
    openLive({
      address: "/v1/watch",
      pauseMs: () => 1,
      onState: (now) => now !== "connecting" && done(now),
      onEvent: () => undefined,
      fetcher: async () => {
        calls += 1;
        return new Response(null, { status: 403 });
      },
    });
  });
  expect([state, calls]).toEqual(["refused", 1]);
});
