// What became of a lease: the journal's own records about it.
import { Panel } from "@/parts/panel";
import { Loaded } from "@/parts/states";
import { Timeline } from "@/parts/timeline";
import { useHistory } from "./queries";

export function LeaseHistory({ leaseId }: { leaseId: number }) {
  const query = useHistory(leaseId);
  return (
    <Panel title="What happened" flush aside="each with its sealed record">
      <Loaded query={query}>{(records) => <Timeline records={records} />}</Loaded>
    </Panel>
  );
}
