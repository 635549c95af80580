// A security officer's home: what is forbidden, what does not agree, what is not trusted, and the
// glass that can be broken.
import { Link } from "@tanstack/react-router";
import type { Schemas } from "@/api/client";
import { useMay } from "@/app/may";
import { useAllNodes } from "@/nouns/nodes/queries";
import { usePolicy } from "@/nouns/isolation/queries";
import { Age } from "@/parts/age";
import { Badge } from "@/parts/badge";
import { CommandLine } from "@/parts/copy";
import { NodeLink } from "@/parts/links";
import { PageHead } from "@/parts/object-page";
import { Figure, Panel } from "@/parts/panel";
import { RowList } from "@/parts/row-list";
import { Empty, Loaded } from "@/parts/states";
import { count } from "@/words/amounts";
import { attestationTone } from "@/words/tones";
import { FINDING_COLUMNS } from "./findings";
import { useFindings } from "./queries";

export default function SecurityHome() {
  const may = useMay(null, null);
  const policy = usePolicy();
  const nodes = useAllNodes();
  const findings = useFindings(null);
  const rows = nodes.data ?? [];
  const doubtful = rows.filter((row) => /^(untrusted|stale)$/.test(row.attestation));
  const closed = rows.filter((row) => row.quarantined);
  const found = policy.data;
  return (
    <>
      <PageHead title="Security">
        {may("glass.break") && (
          <Link to="/break-glass" className="button button-bad">
            Break the glass
          </Link>
        )}
      </PageHead>
      <div className="mb-4 grid grid-cols-2 gap-3 lg:grid-cols-4">
        <Figure
          label="Isolation rules"
          value={count(found?.rules ?? 0)}
          note={
            <Link to="/isolation" className="link">
              {found?.version ? `version ${found.version}` : "none set yet"}
            </Link>
          }
        />
        <Figure
          label="Domains to scrub"
          value={count(found?.residues.length ?? 0)}
          note="kept for those who left"
        />
        <Figure
          label="Nodes in doubt"
          value={`${count(doubtful.length)} of ${count(rows.length)}`}
          note={
            <Link to="/attestation" className="link">
              attestation
            </Link>
          }
        />
        <Figure label="Quarantined" value={count(closed.length)} note="take no work" />
      </div>
      <div className="grid items-start gap-4 lg:grid-cols-3">
        <section aria-label="Newest findings" className="min-w-0 space-y-2 lg:col-span-2">
          <div className="flex items-baseline gap-3">
            <h2 className="font-semibold">Newest findings</h2>
            <Link to="/findings" className="link ml-auto text-sm">
              all findings
            </Link>
          </div>
          <RowList
            label="Findings"
            rows={findings}
            columns={FINDING_COLUMNS}
            rowId={(row) => row.seq}
            empty={
              <Empty title="Nothing disagrees">What nodes counted is what the journal says.</Empty>
            }
            heightMax="22rem"
          />
        </section>
        <div className="min-w-0 space-y-4">
          <Doubtful rows={[...doubtful, ...closed.filter((row) => !doubtful.includes(row))]} />
          <Panel
            title="Isolation policy"
            aside={
              <Link to="/isolation" className="link">
                open
              </Link>
            }
          >
            <Loaded query={policy}>
              {({ text, version, set_ms: setMs }) =>
                version === 0 ? (
                  <p className="text-muted">
                    None: everybody may meet everybody, but for what the scheduler always keeps
                    apart.
                  </p>
                ) : (
                  <>
                    <pre tabIndex={0} className="max-h-56 overflow-auto font-mono text-xs">
                      {text}
                    </pre>
                    <p className="mt-2 text-xs text-muted">
                      set <Age ms={setMs} />
                    </p>
                  </>
                )
              }
            </Loaded>
          </Panel>
        </div>
      </div>
      <div className="mt-4 space-y-1">
        <h2 className="text-xs text-muted">The same on the command line</h2>
        <CommandLine command="bailiwick finding list" />
      </div>
    </>
  );
}

function Doubtful({ rows }: { rows: Schemas["Node"][] }) {
  return (
    <Panel title="Nodes in doubt">
      {rows.length === 0 ? (
        <p className="text-muted">None.</p>
      ) : (
        <ul className="space-y-1">
          {rows.slice(0, 10).map((row) => (
            <li key={row.node} className="flex justify-between gap-3">
              <NodeLink name={row.node} />
              <span className="space-x-1">
                {row.quarantined && <Badge word="quarantined" tone="bad" />}
                <Badge word={row.attestation} tone={attestationTone(row.attestation)} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
