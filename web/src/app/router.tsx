// The addresses of all pages. Each page is a file that is loaded when it is first opened; the frame
// around them needs a session, and without one leads to the login.
import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Link,
  Outlet,
  redirect,
} from "@tanstack/react-router";
import { readSession } from "@/api/session";
import { PageHead } from "@/parts/object-page";
import { Empty, Failed, Skeleton } from "@/parts/states";
import { Page as HomePage, loadHome } from "./home/page";
import { printedCode } from "./code";
import { LoginPage } from "./login";
import { Shell } from "./shell";
import { selfQuery } from "./who";

const sessionQuery = { queryKey: ["session"], queryFn: readSession, staleTime: 60_000 } as const;

function NoSuchPage() {
  return (
    <>
      <PageHead title="No such page" />
      <Empty title="Nothing is at this address">
        <Link to="/" className="link">
          Go home
        </Link>
      </Empty>
    </>
  );
}

export function makeRouter(client: QueryClient) {
  const root = createRootRoute({ component: Outlet, notFoundComponent: NoSuchPage });
  const login = createRoute({ getParentRoute: () => root, path: "/login", component: LoginPage });
  const inside = createRoute({
    getParentRoute: () => root,
    id: "inside",
    component: Shell,
    errorComponent: ({ error }) => (
      <main className="mx-auto max-w-xl p-6">
        <Failed error={error} retry={() => window.location.reload()} />
      </main>
    ),
    beforeLoad: async () => {
      const session = printedCode() === "" ? await client.fetchQuery(sessionQuery) : null;
      if (session === null) throw redirect({ to: "/login" });
      const self = await client.ensureQueryData(selfQuery);
      if (window.location.pathname === "/") loadHome(self);
    },
  });
  const page = <Path extends string>(
    path: Path,
    load: () => Promise<Record<"Page", () => React.ReactNode>>,
  ) =>
    createRoute({
      getParentRoute: () => inside,
      path,
      component: lazyRouteComponent(load, "Page"),
    });

  const pages = [
    // Here already: which home it is follows from who looks, and that one is fetched meanwhile.
    page("/", () => Promise.resolve({ Page: HomePage })),
    page("/inbox", () => import("@/nouns/inbox/list")),
    page("/run", () => import("@/nouns/jobs/run")),
    page("/jobs", () => import("@/nouns/jobs/list")),
    page("/jobs/$id", () => import("@/nouns/jobs/page")),
    page("/queue", () => import("@/nouns/queue/list")),
    page("/queue/$id", () => import("@/nouns/queue/page")),
    page("/leases", () => import("@/nouns/leases/list")),
    page("/leases/$id", () => import("@/nouns/leases/page")),
    page("/nodes", () => import("@/nouns/nodes/list")),
    page("/nodes/$id", () => import("@/nouns/nodes/page")),
    page("/maintenance", () => import("@/nouns/maintenance/list")),
    page("/maintenance/$window", () => import("@/nouns/maintenance/page")),
    page("/bookings", () => import("@/nouns/bookings/list")),
    page("/tenants/$tenant/projects/$project/bookings/$booking", () =>
      import("@/nouns/bookings/page"),
    ),
    page("/tenants/$tenant/projects/$project/booking-series/$series", () =>
      import("@/nouns/bookings/series"),
    ),
    page("/cells", () => import("@/nouns/cells/list")),
    page("/cells/$cell", () => import("@/nouns/cells/page")),
    page("/tenants", () => import("@/nouns/tenants/list")),
    page("/tenants/$tenant", () => import("@/nouns/tenants/page")),
    page("/tenants/$tenant/projects/$project", () => import("@/nouns/tenants/project")),
    page("/records", () => import("@/nouns/records/list")),
    page("/tenants/$tenant/records/$seq", () => import("@/nouns/records/page")),
    page("/security", () => import("@/nouns/security/page")),
    page("/findings", () => import("@/nouns/security/findings")),
    page("/attestation", () => import("@/nouns/security/attestation")),
    page("/break-glass", () => import("@/nouns/security/glass")),
    page("/isolation", () => import("@/nouns/isolation/page")),
    page("/money", () => import("@/nouns/money/page")),
    page("/tenants/$tenant/invoices", () => import("@/nouns/invoices/list")),
    page("/tenants/$tenant/invoices/$invoice", () => import("@/nouns/invoices/page")),
    page("/runtimes", () => import("@/nouns/runtimes/list")),
    page("/tenants/$tenant/share", () => import("@/nouns/runtimes/share")),
    page("/tenants/$tenant/runtimes/$runtime", () => import("@/nouns/runtimes/page")),
    page("/apps", () => import("@/nouns/apps/list")),
    page("/apps/$app", () => import("@/nouns/apps/page")),
    page("/apps/$app/run", () => import("@/nouns/instances/new")),
    page("/instances", () => import("@/nouns/instances/list")),
    page("/tenants/$tenant/projects/$project/instances/$id", () =>
      import("@/nouns/instances/page"),
    ),
    page("/graphs", () => import("@/nouns/graphs/list")),
    page("/graphs/$id", () => import("@/nouns/graphs/page")),
  ];
  // Within the frame, so that who followed an old link is not lost.
  const other = createRoute({ getParentRoute: () => inside, path: "/$", component: NoSuchPage });
  return createRouter({
    routeTree: root.addChildren([login, inside.addChildren([...pages, other])]),
    defaultPendingComponent: () => <Skeleton lines={6} />,
    defaultErrorComponent: ({ error, reset }) => <Failed error={error} retry={reset} />,
    defaultPreload: "intent",
  });
}
