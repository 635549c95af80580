import { describe, expect, it, test } from "vitest";
import { jobOf, joined, splitCommand, unseenOf, wishOf, type Wish } from "./wish";

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

describe("a job from a file", () => {
  const before = {
    tenant: "", project: "", command: "", name: "", cpus: "1", memory: "1", gpus: "0",
    generation: "", priority: "normal", leaseClass: "standard", hours: "1",
  } as const;
  const job = {
    tenant: "lab",
    project: "vision",
    command: ["python", "-c", `print('hi "there"')`],
    resources: { cpu_milli: 500, mem_bytes: 2 ** 31 },
    gpu_count: 2,
    ttl_ms: 7_200_000,
    priority: "high",
    lease_class: "spot",
    env: { SEED: "7" },
    labels: [],
    gang_size: 1,
    wait: false,
    gpu_milli: 0,
    image: null,
  } as const;

  it("is shown in the form, and sent as the file says it", () => {
    const read = job as unknown as Parameters<typeof wishOf>[0];
    const sent = joined(jobOf(wishOf(read, before)), unseenOf(read));
    expect(sent).toEqual({
      tenant: "lab",
      project: "vision",
      command: ["python", "-c", `print('hi "there"')`],
      resources: { cpu_milli: 500, mem_bytes: 2 ** 31 },
      gpu_count: 2,
      ttl_ms: 7_200_000,
      priority: "high",
      lease_class: "spot",
      env: { SEED: "7" },
      wait: false,
    });
  });
});
