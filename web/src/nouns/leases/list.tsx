// All leases, page by page as one scrolls.
import { useCallback } from "react";
import type { Schemas } from "@/api/client";
import { useScope } from "@/app/scope";
import { Age } from "@/parts/age";
import { Badge } from "@/parts/badge";
import { LeaseLink, NodeLink, PlaceLink } from "@/parts/links";
import { PageHead } from "@/parts/object-page";
import { RowList } from "@/parts/row-list";
import { Empty } from "@/parts/states";
import type { Column } from "@/parts/table";
import { milli, size } from "@/words/amounts";
import { leaseTone, priorityTone } from "@/words/tones";
import { useLeases } from "./queries";

type Lease = Schemas["Lease"];

export const LEASE_COLUMNS: Column<Lease>[] = [
  {
    id: "lease",
    header: "lease",
    width: "4.5rem",
    cell: (lease) => <LeaseLink id={lease.lease_id} />,
  },
  {
    id: "state",
    header: "state",
    width: "8rem",
    cell: (lease) => <Badge word={lease.state} tone={leaseTone(lease.state)} />,
  },
  {
    id: "place",
    header: "project",
    width: "minmax(11rem,1fr)",
    cell: (lease) => <PlaceLink tenant={lease.tenant} project={lease.project} />,
  },
  {
    id: "node",
    header: "node",
    width: "minmax(9rem,1fr)",
    cell: (lease) => <NodeLink name={lease.node} />,
  },
  {
    id: "gpus",
    header: "GPUs",
    width: "4.5rem",
    align: "right",
    cell: (lease) => milli(lease.resources.gpu_milli ?? 0),
  },
  {
    id: "cores",
    header: "cores",
    width: "4.5rem",
    align: "right",
    cell: (lease) => milli(lease.resources.cpu_milli ?? 0),
  },
  {
    id: "memory",
    header: "memory",
    width: "6rem",
    align: "right",
    cell: (lease) => size(lease.resources.mem_bytes ?? 0),
  },
  { id: "class", header: "class", width: "6.5rem", cell: (lease) => lease.lease_class },
  {
    id: "priority",
    header: "priority",
    width: "5.5rem",
    cell: (lease) => <Badge word={lease.priority} tone={priorityTone(lease.priority)} />,
  },
  {
    id: "granted",
    header: "granted",
    width: "7.5rem",
    align: "right",
    cell: (lease) => <Age ms={lease.granted_ms} />,
  },
  {
    id: "expires",
    header: "ends",
    width: "7rem",
    align: "right",
    cell: (lease) => <Age ms={lease.expires_ms} />,
  },
];

export function Page() {
  const rows = useLeases();
  const { scope } = useScope();
  const { tenant, project } = scope;
  const keep = useCallback(
    (lease: Lease) =>
      (tenant === null || lease.tenant === tenant) &&
      (project === null || lease.project === project),
    [tenant, project],
  );
  return (
    <>
      <PageHead title="Leases" />
      <RowList
        label="Leases"
        rows={rows}
        columns={LEASE_COLUMNS}
        rowId={(lease) => lease.lease_id}
        isPlain
        keep={tenant === null ? undefined : keep}
        empty={<Empty title="No leases here">A job that runs holds one.</Empty>}
      />
    </>
  );
}
