// Where an address belongs, among the pages that one can go to.

const INSIDE_TENANT: [RegExp, string][] = [
  [/^\/tenants\/[^/]+\/projects\/[^/]+\/instances(\/|$)/, "/instances"],
  [/^\/tenants\/[^/]+\/projects\/[^/]+\/booking(s|-series)(\/|$)/, "/bookings"],
  [/^\/tenants\/[^/]+\/(runtimes|share)(\/|$)/, "/runtimes"],
  [/^\/tenants\/[^/]+\/invoices(\/|$)/, "/money"],
];

/** To which of the pages an address belongs; a thing of a tenant's is not the tenant itself. */
export function pageOf(path: string): string {
  const inside = INSIDE_TENANT.find(([pattern]) => pattern.test(path));
  return inside?.[1] ?? `/${path.split("/")[1] ?? ""}`;
}
