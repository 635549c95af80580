// The newest decisions about a tenant, each with the sealed record behind it.
import { useQuery } from "@tanstack/react-query";
import { api, ask, type Schemas } from "@/api/client";
import { LeaseLink } from "@/parts/links";
import { Panel } from "@/parts/panel";
import { Loaded } from "@/parts/states";
import { Moment, SealedRecord } from "@/parts/timeline";
import { useSentences } from "@/words/server-words";

const SHOWN = 20;

export function TenantRecords({ tenant }: { tenant: string }) {
  const query = useQuery({
    queryKey: ["records", tenant, "decisions"],
    queryFn: async () => {
      const params = { path: { tenant }, query: { limit: SHOWN } };
      return (await ask(api.GET("/v1/tenants/{tenant}/decisions", { params }))).items;
    },
  });
  const sentences = useSentences();
  return (
    <Panel title="Newest decisions" flush aside="each with its sealed record">
      <Loaded query={query}>
        {(rows) => (
          <ol>
            {rows.map((row) => (
              <Moment
                key={row.seq}
                kind={row.kind}
                seq={row.seq}
                tenant={tenant}
                atMs={row.at_ms}
                told={
                  <>
                    {row.lease_id !== null && (
                      <>
                        lease <LeaseLink id={row.lease_id} />{" "}
                      </>
                    )}
                    {row.reason !== null && sentences.jobReason(row.reason)}
                  </>
                }
              >
                <Sealed tenant={tenant} decision={row} />
              </Moment>
            ))}
          </ol>
        )}
      </Loaded>
    </Panel>
  );
}

/** A page of the journal that begins at a record's number begins with that record. */
function Sealed({ tenant, decision }: { tenant: string; decision: Schemas["Decision"] }) {
  const query = useQuery({
    queryKey: ["record", tenant, decision.seq],
    staleTime: Infinity,
    queryFn: async () => {
      const params = { path: { tenant }, query: { cursor: String(decision.seq), limit: 1 } };
      const { items } = await ask(api.GET("/v1/tenants/{tenant}/records", { params }));
      return items[0] ?? null;
    },
  });
  return <Loaded query={query}>{(record) => record && <SealedRecord record={record} />}</Loaded>;
}
