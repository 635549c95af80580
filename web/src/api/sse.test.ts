import { expect, test } from "vitest";
import { readEvents, type ServerEvent } from "./sse";

function read(...pieces: string[]): ServerEvent[] {
  const heard: ServerEvent[] = [];
  const take = readEvents((event) => heard.push(event));
  pieces.forEach(take);
  return heard;
}

test("an event is heard whole, in whatever pieces it comes", () => {
  const text = 'event: lease_released\ndata: {"seq": 7}\nid: 7\n\n';
  const whole = [{ event: "lease_released", data: '{"seq": 7}', id: "7" }];
  expect(read(text)).toEqual(whole);
  expect(read(...text)).toEqual(whole);
});

test("a heartbeat moves the place and says nothing else", () => {
  expect(read(": beat\nid: 12\n\n")).toEqual([{ event: "message", data: "", id: "12" }]);
  expect(read(": beat\n\n")).toEqual([]);
});
