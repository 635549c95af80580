// A tenant's home, for who administers it or looks at it from the fleet.
import { may, useWho } from "@/app/who";
import { useQueue } from "@/nouns/queue/queries";
import { QUEUE_COLUMNS } from "@/nouns/queue/list";
import { QuotaPanel, SpendPanel } from "@/nouns/tenants/money";
import { ProjectsPanel } from "@/nouns/tenants/page";
import { MembersPanel, RuntimesPanel } from "@/nouns/tenants/people";
import { PageHead } from "@/parts/object-page";
import { RowList } from "@/parts/row-list";
import { Empty } from "@/parts/states";

export default function TenantHome({ tenant }: { tenant: string }) {
  const self = useWho();
  const rows = useQueue();
  return (
    <>
      <PageHead title={tenant} />
      <div className="grid gap-4 md:grid-cols-2 xl:grid-cols-3">
        {may(self, "metering.usage.read", { tenant }) && (
          <SpendPanel tenant={tenant} project={null} />
        )}
        {may(self, "scheduler.quota.read", { tenant }) && (
          <QuotaPanel tenant={tenant} project={null} />
        )}
        <ProjectsPanel tenant={tenant} />
        <MembersPanel tenant={tenant} project={null} />
        <RuntimesPanel tenant={tenant} />
      </div>
      <section aria-label="What waits" className="mt-4 space-y-2">
        <h2 className="font-semibold">What waits</h2>
        <RowList
          label="Requests that wait"
          rows={rows}
          columns={QUEUE_COLUMNS.filter((column) => column.id !== "place")}
          rowId={(entry) => entry.entry_id}
          keep={(entry) => entry.tenant === tenant}
          empty={<Empty title="Nothing waits" />}
          heightMax="24rem"
        />
      </section>
    </>
  );
}
