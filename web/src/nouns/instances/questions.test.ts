import { describe, expect, it } from "vitest";
import type { Schemas } from "@/api/client";
import { argvOf, isAskable, questionsOf, replyOf } from "./questions";

type Call = Schemas["CallDone"];

const call = (reply: unknown) => ({ answer: "done", seq: 7, call: { reply } }) as Call;

describe("what is asked of a queue", () => {
  it("is words between spaces", () => {
    expect(argvOf("  squeue   --long ")).toEqual(["squeue", "--long"]);
    expect(argvOf(" ")).toBeNull();
    expect(argvOf("x ".repeat(129))).toBeNull();
  });

  it("is offered where the scheduler is known", () => {
    expect(questionsOf("slurm").map((each) => each.words)).toContain("squeue");
    expect(questionsOf("something-else")).toEqual([]);
  });

  it("is asked of what runs", () => {
    expect(isAskable("degraded")).toBe(true);
    expect(isAskable("deleting")).toBe(false);
  });

  it("is waited for with the same request, and not for ever", async () => {
    const answers = [call(null), call({ exit_code: 0, stdout: "1", stderr: "" })];
    const said = await replyOf(() => Promise.resolve(answers.shift() as Call));
    expect(said.stdout).toBe("1");
    await expect(replyOf(() => Promise.resolve(call(null)))).rejects.toThrow("nobody answered");
  });
});
