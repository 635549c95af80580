// How far each node is trusted, those that are not first; and the policy that asks for it.
import { useQuery } from "@tanstack/react-query";
import { api, ask, type Schemas } from "@/api/client";
import { useMay } from "@/app/may";
import { useAllNodes } from "@/nouns/nodes/queries";
import { Badge } from "@/parts/badge";
import { CommandLine } from "@/parts/copy";
import { NodeLink } from "@/parts/links";
import { PageHead } from "@/parts/object-page";
import { Figure, Panel } from "@/parts/panel";
import { Empty, Failed, Loaded } from "@/parts/states";
import { VirtualTable, type Column } from "@/parts/table";
import { count } from "@/words/amounts";
import { attestationTone, modeTone } from "@/words/tones";

type Node = Schemas["Node"];
type State = Schemas["AttestationState"];

const ORDER: State[] = ["untrusted", "stale", "unattested", "unsupported", "trusted"];

const COLUMNS: Column<Node>[] = [
  {
    id: "node",
    header: "node",
    width: "minmax(12rem,1fr)",
    cell: (row) => <NodeLink name={row.node} />,
  },
  {
    id: "state",
    header: "attestation",
    width: "10rem",
    cell: (row) => <Badge word={row.attestation} tone={attestationTone(row.attestation)} />,
  },
  {
    id: "mode",
    header: "mode",
    width: "10rem",
    cell: (row) => <Badge word={row.mode} tone={modeTone(row.mode)} />,
  },
];

export function Page() {
  const nodes = useAllNodes();
  const may = useMay(null, null);
  return (
    <>
      <PageHead title="Attestation" />
      <div className="space-y-4">
        <Loaded query={nodes}>
          {(rows) => (
            <>
              <div className="grid grid-cols-2 gap-3 sm:grid-cols-3 lg:grid-cols-5">
                {ORDER.map((state) => (
                  <Figure
                    key={state}
                    label={state}
                    value={count(rows.filter((row) => row.attestation === state).length)}
                    note={`of ${count(rows.length)} nodes`}
                  />
                ))}
              </div>
              <div className="panel">
                {rows.length === 0 ? (
                  <Empty title="No nodes yet" />
                ) : (
                  <VirtualTable
                    label="Nodes by how far they are trusted"
                    columns={COLUMNS}
                    rows={sorted(rows)}
                    rowId={(row) => row.node}
                    heightMax="28rem"
                  />
                )}
              </div>
            </>
          )}
        </Loaded>
        {may("trust_policy.read") && <TrustPolicy />}
        <CommandLine command="bailiwick attest policy show" />
      </div>
    </>
  );
}

function sorted(rows: Node[]): Node[] {
  return rows.toSorted(
    (one, other) =>
      ORDER.indexOf(one.attestation) - ORDER.indexOf(other.attestation) ||
      (one.node < other.node ? -1 : 1),
  );
}

function TrustPolicy() {
  const query = useQuery({
    queryKey: ["attestation-policy"],
    queryFn: () => ask(api.GET("/v1/attestation/policy")),
  });
  if (query.isError) return <Failed error={query.error} />;
  return (
    <Panel title="What is asked of which nodes" aside="the document that was set">
      <Loaded query={query}>
        {(policy) => (
          <>
            <pre tabIndex={0} className="max-h-80 overflow-auto font-mono text-xs">
              {pretty(policy.document)}
            </pre>
            <p className="mt-2 text-xs text-muted">
              SHA-256 <code className="font-mono break-all">{policy.digest}</code>
            </p>
          </>
        )}
      </Loaded>
    </Panel>
  );
}

function pretty(document: string): string {
  try {
    return JSON.stringify(JSON.parse(document), null, 2);
  } catch {
    return document;
  }
}
