// Relations are links: every name of an object leads to its page.
import { Link } from "@tanstack/react-router";

export function JobLink({ id, name }: { id: number; name?: string | null }) {
  return (
    <Link to="/jobs/$id" params={{ id: String(id) }} className="link">
      {name ? `${name} (${id})` : id}
    </Link>
  );
}

export function LeaseLink({ id }: { id: number | null | undefined }) {
  if (id === null || id === undefined) return <span className="text-muted">-</span>;
  return (
    <Link to="/leases/$id" params={{ id: String(id) }} className="link">
      {id}
    </Link>
  );
}

export function EntryLink({ id }: { id: number | null | undefined }) {
  if (id === null || id === undefined) return <span className="text-muted">-</span>;
  return (
    <Link to="/queue/$id" params={{ id: String(id) }} className="link">
      {id}
    </Link>
  );
}

export function NodeLink({ name }: { name: string | null }) {
  if (name === null) return <span className="text-muted">-</span>;
  return (
    <Link to="/nodes/$id" params={{ id: name }} className="link">
      {name}
    </Link>
  );
}

/** A tenant, or a project of it. */
export function PlaceLink({ tenant, project }: { tenant: string | null; project: string | null }) {
  if (tenant === null) return <span className="text-muted">the fleet</span>;
  return (
    <span className="whitespace-nowrap">
      <Link to="/tenants/$tenant" params={{ tenant }} className="link">
        {tenant}
      </Link>
      {project !== null && (
        <>
          <span className="text-muted">/</span>
          <Link
            to="/tenants/$tenant/projects/$project"
            params={{ tenant, project }}
            className="link"
          >
            {project}
          </Link>
        </>
      )}
    </span>
  );
}

/** A sealed record; one of the whole fleet is no tenant's, and has no page. */
export function RecordLink({ tenant, seq }: { tenant: string | null; seq: number }) {
  if (tenant === null) return <>{seq}</>;
  return (
    <Link
      to="/tenants/$tenant/records/$seq"
      params={{ tenant, seq: String(seq) }}
      className="link"
      title="The sealed record, verified in this browser"
    >
      {seq}
    </Link>
  );
}
