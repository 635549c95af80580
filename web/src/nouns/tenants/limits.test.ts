import { describe, expect, it } from "vitest";
import { microsOf, quotaOf, typedOf } from "./limits";

describe("a quota in the form", () => {
  const quota = {
    limits: { cpu_milli: 1_500, mem_bytes: 2 ** 31, gpu_count: 8 },
    gpu_limits: { nvidia_hopper: 4 },
    burst: null,
    ceiling: null,
  };

  it("comes back as it was, if nothing is typed", () => {
    expect(quotaOf(quota, typedOf(quota))).toEqual(quota);
  });

  it("loses a limit whose field is emptied, and keeps what the form does not show", () => {
    const found = quotaOf(quota, { ...typedOf(quota), gpu_count: "", nvidia_hopper: "" });
    expect(found?.limits).toEqual({ cpu_milli: 1_500, mem_bytes: 2 ** 31 });
    expect(found?.gpu_limits).toEqual({});
  });

  it("is nothing while something typed is no number", () => {
    expect(quotaOf(quota, { ...typedOf(quota), gpu_count: "many" })).toBeNull();
    expect(quotaOf(quota, { ...typedOf(quota), gpu_count: "-1" })).toBeNull();
  });
});

it("money is millionths, and what is no amount is nothing", () => {
  expect(microsOf("12.5")).toBe(12_500_000);
  expect(microsOf("0")).toBe(0);
  for (const text of ["", "1e9", "-1", "1.1234567", "ten"]) expect(microsOf(text)).toBeNull();
});
