import { expect, test } from "vitest";
import { askedWords } from "./asked";

const NONE = { gang_size: 1, gpu_count: 0, gpu_milli: 1_000, cpu_milli: 0, mem_bytes: 0 };

test("a request says what each of its members is to have", () => {
  expect(askedWords(NONE)).toBe("a default share");
  expect(askedWords({ ...NONE, gpu_count: 1, gpu_milli: 500, cpu_milli: 2_000 })).toBe(
    "0.5 GPUs, 2 cores",
  );
  expect(askedWords({ ...NONE, gang_size: 4, gpu_count: 8, mem_bytes: 2 ** 30 })).toBe(
    "4 x 8 GPUs, 1 GiB of memory",
  );
});
