// Home: what a person has, what is stuck and why, what he spends; by the widest of his roles.
import { Link } from "@tanstack/react-router";
import { lazy } from "react";
import { homeOf, useWho, type Home, type Self } from "@/app/who";
import { useScope } from "@/app/scope";
import { Empty } from "@/parts/states";
import { assertNever } from "@/words/assert-never";

const HOMES = {
  operator: () => import("./operator"),
  security: () => import("@/nouns/security/home"),
  auditor: () => import("./auditor"),
  tenant: () => import("./member"),
  member: () => import("./member"),
  nobody: () => Promise.resolve(),
} satisfies Record<Home, () => Promise<unknown>>;

/** Fetch what a person's home is made of before it is drawn. */
export function loadHome(self: Self): void {
  void HOMES[homeOf(self)]();
}

const Operator = lazy(HOMES.operator);
const Member = lazy(HOMES.member);
const Tenant = lazy(() => import("./tenant"));
const Security = lazy(HOMES.security);
const Auditor = lazy(HOMES.auditor);

export function Page() {
  const self = useWho();
  const { scope } = useScope();
  const home = homeOf(self);
  // Who chose a tenant above wants to see that one, whatever else he may see.
  if (scope.project !== null && scope.tenant !== null)
    return <Member tenant={scope.tenant} project={scope.project} />;
  if (scope.tenant !== null && home !== "member") return <Tenant tenant={scope.tenant} />;
  switch (home) {
    case "operator":
      return <Operator />;
    case "security":
      return <Security />;
    case "auditor":
      return <Auditor />;
    case "tenant":
    case "member":
      return scope.tenant === null ? (
        <Nobody />
      ) : (
        <Member tenant={scope.tenant} project={scope.project} />
      );
    case "nobody":
      return <Nobody />;
    default:
      return assertNever(home);
  }
}

function Nobody() {
  const self = useWho();
  return (
    <div className="panel">
      <Empty title={`${self.principal} has no role yet`}>
        Ask whoever administers your project for one. Then{" "}
        <Link to="/" reloadDocument className="link">
          load this page again
        </Link>
        .
      </Empty>
    </div>
  );
}
