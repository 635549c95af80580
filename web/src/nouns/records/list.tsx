// The journal of a tenant, in order; every record with its sealed form behind it.
import type { Schemas } from "@/api/client";
import { api, ask } from "@/api/client";
import { useRows } from "@/api/rows";
import { ChooseTenant } from "@/app/choose-tenant";
import { useScope } from "@/app/scope";
import { Age } from "@/parts/age";
import { PlaceLink, RecordLink } from "@/parts/links";
import { PageHead } from "@/parts/object-page";
import { RowList } from "@/parts/row-list";
import { Empty } from "@/parts/states";
import type { Column } from "@/parts/table";
import { spell } from "@/words/amounts";

type JournalRecord = Schemas["JournalRecord"];

const COLUMNS: Column<JournalRecord>[] = [
  {
    id: "seq",
    header: "record",
    width: "6rem",
    align: "right",
    cell: (record) => <RecordLink tenant={record.tenant} seq={record.seq} />,
  },
  { id: "kind", header: "kind", width: "minmax(12rem,1fr)", cell: (record) => spell(record.kind) },
  {
    id: "place",
    header: "project",
    width: "minmax(10rem,1fr)",
    cell: (record) => <PlaceLink tenant={record.tenant} project={record.project} />,
  },
  { id: "actor", header: "by", width: "minmax(8rem,1fr)", cell: (record) => record.actor },
  {
    id: "correlation",
    header: "correlation id",
    width: "minmax(12rem,1fr)",
    cell: (record) => <code className="font-mono text-xs">{record.correlation_id}</code>,
  },
  {
    id: "hash",
    header: "hash of the one before",
    width: "minmax(12rem,1fr)",
    cell: (record) => (
      <code className="font-mono text-xs" title={record.prev_hash}>
        {record.prev_hash}
      </code>
    ),
  },
  {
    id: "at",
    header: "at",
    width: "7rem",
    align: "right",
    cell: (record) => <Age ms={record.at_ms} />,
  },
];

export function Page() {
  const { scope } = useScope();
  const tenant = scope.tenant;
  const rows = useRows(
    ["records", tenant],
    (page) =>
      ask(
        api.GET("/v1/tenants/{tenant}/records", {
          params: { path: { tenant: tenant ?? "" }, query: page },
        }),
      ),
    { isOn: tenant !== null },
  );
  return (
    <>
      <PageHead title="Journal" />
      {tenant === null ? (
        <ChooseTenant>
          The journal is read tenant by tenant. All of it:{" "}
          <code className="font-mono text-xs">bailiwick journal verify</code>
        </ChooseTenant>
      ) : (
        <RowList
          label={`Records of ${tenant}`}
          rows={rows}
          columns={COLUMNS}
          rowId={(record) => record.seq}
          empty={<Empty title="No records" />}
        />
      )}
    </>
  );
}
