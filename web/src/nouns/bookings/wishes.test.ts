import { expect, test } from "vitest";
import { waitWords, wishWords } from "./wishes";

test("what was asked for reads as the command line says it", () => {
  expect(wishWords({ nodes: ["n1", "n2"] })).toBe("n1, n2");
  expect(wishWords({ nodes: [], count: 1, labels: ["pool=big"] })).toBe("1 node pool=big");
  expect(wishWords({ count: 0, gpus: 16, generation: "nvidia_hopper" })).toBe(
    "16 GPUs nvidia_hopper",
  );
});

test("when a node is given back is told, and that it never is", () => {
  expect(waitWords(null)).toBe("as the settings say");
  expect(waitWords(0)).toBe("never");
  expect(waitWords(900_000)).toBe("after 15m without use");
});
