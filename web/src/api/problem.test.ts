import { expect, test } from "vitest";
import { problemOf } from "./problem";

const response = new Response(null, { status: 404, headers: { "x-correlation-id": "c-1" } });

test("the server's sentence is kept, with its code and correlation id", () => {
  const body = {
    code: "not_found",
    message: "no job 7",
    correlation_id: "c-2",
    details: {},
    retryable: false,
  };
  const found = problemOf(body, response);
  expect([found.code, found.message, found.correlationId]).toEqual([
    "not_found",
    "no job 7",
    "c-2",
  ]);
});

test("what is not ours is told as such, with the id of the header", () => {
  const found = problemOf("<html>a proxy", response);
  expect([found.code, found.correlationId]).toEqual(["unreadable", "c-1"]);
});
