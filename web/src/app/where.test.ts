import { expect, it } from "vitest";
import { pageOf } from "./where";

it("says to which page an address belongs", () => {
  expect(pageOf("/")).toBe("/");
  expect(pageOf("/jobs/7")).toBe("/jobs");
  expect(pageOf("/tenants/lab/projects/vision")).toBe("/tenants");
  expect(pageOf("/tenants/lab/projects/vision/instances/1")).toBe("/instances");
  expect(pageOf("/tenants/lab/projects/vision/bookings/course")).toBe("/bookings");
  expect(pageOf("/tenants/lab/projects/vision/booking-series/class")).toBe("/bookings");
  expect(pageOf("/tenants/lab/runtimes/main")).toBe("/runtimes");
  expect(pageOf("/tenants/lab/share")).toBe("/runtimes");
  expect(pageOf("/tenants/lab/invoices")).toBe("/money");
  expect(pageOf("/tenants/runtimes")).toBe("/tenants");
});
