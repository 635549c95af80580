// Relations are links: every name of an object leads to its page.
import { useRouter } from "@tanstack/react-router";
import type { MouseEvent, ReactNode } from "react";

interface InnerTerms {
  /** The pieces of the address; each is spelled as a piece of one. */
  to: readonly (string | number)[];
  title?: string;
  children: ReactNode;
}

/** A link within. The router's own works out its address anew wherever it is drawn: too much for a
    table's every row. */
function Inner({ to, title, children }: InnerTerms) {
  const router = useRouter();
  const href = `/${to.map(encodeURIComponent).join("/")}`;
  function follow(event: MouseEvent) {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    router.history.push(href);
  }
  return (
    <a href={href} title={title} className="link" onClick={follow}>
      {children}
    </a>
  );
}

export function JobLink({ id, name }: { id: number; name?: string | null }) {
  return <Inner to={["jobs", id]}>{name ? `${name} (${id})` : id}</Inner>;
}

export function LeaseLink({ id }: { id: number | null | undefined }) {
  if (id === null || id === undefined) return <span className="text-muted">-</span>;
  return <Inner to={["leases", id]}>{id}</Inner>;
}

export function EntryLink({ id }: { id: number | null | undefined }) {
  if (id === null || id === undefined) return <span className="text-muted">-</span>;
  return <Inner to={["queue", id]}>{id}</Inner>;
}

export function NodeLink({ name }: { name: string | null }) {
  if (name === null) return <span className="text-muted">-</span>;
  return <Inner to={["nodes", name]}>{name}</Inner>;
}

/** A tenant, or a project of it. */
export function PlaceLink({ tenant, project }: { tenant: string | null; project: string | null }) {
  if (tenant === null) return <span className="text-muted">the fleet</span>;
  return (
    <span className="whitespace-nowrap">
      <Inner to={["tenants", tenant]}>{tenant}</Inner>
      {project !== null && (
        <>
          <span className="text-muted">/</span>
          <Inner to={["tenants", tenant, "projects", project]}>{project}</Inner>
        </>
      )}
    </span>
  );
}

/** A sealed record; one of the whole fleet is no tenant's, and has no page. */
export function RecordLink({ tenant, seq }: { tenant: string | null; seq: number }) {
  if (tenant === null) return <>{seq}</>;
  return (
    <Inner
      to={["tenants", tenant, "records", seq]}
      title="The sealed record, verified in this browser"
    >
      {seq}
    </Inner>
  );
}
