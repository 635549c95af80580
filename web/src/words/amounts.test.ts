import { expect, test } from "vitest";
import { amount, fine, generation, milli, money, size, span } from "./amounts";

test("amounts read as the command line's do", () => {
  expect([span(5_400_000), span(1_500), span(250), span(0)]).toEqual([
    "1h 30m",
    "1.5s",
    "250ms",
    "0s",
  ]);
  expect([milli(4_000), milli(1_500), milli(-250)]).toEqual(["4", "1.5", "-0.25"]);
  expect([money(2_500_000), money(-1_234_567_890), money(4_999)]).toEqual([
    "2.50",
    "-1,234.57",
    "0.00",
  ]);
  expect([size(25_275_125_760), size(512), size(0)]).toEqual(["23.5 GiB", "512 B", "0 B"]);
  expect([amount("gpu_milli", 1_500), generation("nvidia_hopper")]).toEqual([
    "1.5 GPUs",
    "NVIDIA Hopper",
  ]);
});

test("short names of generations are written as their makers write them", () => {
  const words = ["amd_mi300", "google_tpu_v5", "intel_gaudi3"];
  expect(words.map(generation)).toEqual(["AMD MI300", "Google TPU v5", "Intel Gaudi3"]);
});

test("next to nothing is told with four decimals, and nothing as nothing", () => {
  expect([fine(0), fine(2_350), fine(-2_350), fine(1_500_000)]).toEqual([
    ...["0.00", "0.0024", "-0.0024", "1.50"],
  ]);
});
