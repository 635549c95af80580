import { expect, test } from "vitest";
import { attestationOf, cellsOf, sumOf, type Picture } from "./picture";

const PICTURE: Picture = {
  whole: true,
  leases: 3,
  waiting: 0,
  tenants: ["a", "b"],
  kinds: [[], ["nvidia_hopper", "nvidia_hopper"], ["nvidia_ampere"]],
  modes: ["accepting", "draining"],
  attestations: ["trusted", "unattested"],
  lease_classes: ["guaranteed", "standard", "spot"],
  nodes: {
    node: ["n1", "n2", "n3", "n4"],
    kind: [1, 0, 2, 1],
    mode: [0, 0, 1, 0],
    quarantined: [0, 0, 0, 0],
    takes_leases: [1, 1, 0, 1],
    attestation: [1, 1, 0, 1],
  },
  held: {
    lease_id: [5, 6, 9],
    node: [3, 3, 2],
    devices: [2, 3, 1],
    milli: [500, 500, 1000],
    tenant: [0, 1, 0],
    lease_class: [1, 1, 0],
    ending: [0, 0, 1],
  },
};

test("cells are by generation and name, and the first of several leases holds a cell", () => {
  const { placed, holder } = cellsOf(PICTURE);
  expect(placed.map((each) => PICTURE.nodes.node[each.node])).toEqual(["n3", "n1", "n4"]);
  expect([...holder]).toEqual([2, -1, -1, 1, 0]);
});

test("sums count shares, and nodes without GPUs too", () => {
  expect(sumOf(PICTURE)).toEqual({
    gpus: 5,
    nodes: 4,
    taking: 3,
    closed: 1,
    leasedMilli: 2500,
    percent: 50,
  });
  expect([...attestationOf(PICTURE)]).toEqual([
    ["unattested", 3],
    ["trusted", 1],
  ]);
});
