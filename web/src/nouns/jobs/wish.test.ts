import { expect, test } from "vitest";
import { jobOf, splitCommand, type Wish } from "./wish";

const wish: Wish = {
  tenant: "lab",
  project: "vision",
  command: "train.py --epochs 3",
  name: "",
  cpus: "1.5",
  memory: "2",
  gpus: "0",
  generation: "nvidia_hopper",
  priority: "normal",
  leaseClass: "spot",
  hours: "0.5",
};

test("quotes keep words together, and one that is open is no command", () => {
  expect(splitCommand(`sh -c "echo 'a b'" ''`)).toEqual(["sh", "-c", "echo 'a b'", ""]);
  expect(splitCommand(`sh -c "echo`)).toEqual([]);
});

test("a form becomes what the API takes, in its units", () => {
  expect(jobOf(wish)).toEqual({
    tenant: "lab",
    project: "vision",
    command: ["train.py", "--epochs", "3"],
    resources: { cpu_milli: 1_500, mem_bytes: 2 * 2 ** 30 },
    priority: "normal",
    lease_class: "spot",
    ttl_ms: 1_800_000,
  });
  expect(jobOf({ ...wish, gpus: "2" })).toMatchObject({
    gpu_count: 2,
    gpu_generation: "nvidia_hopper",
  });
});

test("what makes no sense is no wish", () => {
  expect([
    jobOf({ ...wish, command: " " }),
    jobOf({ ...wish, cpus: "x" }),
    jobOf({ ...wish, gpus: "-1" }),
  ]).toEqual([null, null, null]);
});
