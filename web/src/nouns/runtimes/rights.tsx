// Who may submit where, as a table of projects against whose queues they are. What no record allows
// is denied, and says so.
import type { Schemas } from "@/api/client";
import { Age } from "@/parts/age";
import { Badge } from "@/parts/badge";

type Right = Schemas["SubmitRight"];

interface MatrixTerms {
  /** Who could submit: projects that have a part, and people who were let in by name. */
  rows: string[];
  /** Whose queues there are. */
  owners: string[];
  rights: Right[];
  /** Before there is a runtime nobody could have opened anything. */
  isPlanned?: boolean;
}

export function RightsMatrix({ rows, owners, rights, isPlanned = false }: MatrixTerms) {
  if (rows.length === 0) {
    return <p className="text-muted">Nobody may submit: no project has a part yet.</p>;
  }
  return (
    <div
      className="overflow-x-auto"
      tabIndex={0}
      role="region"
      aria-label="Who may submit where, scrollable"
    >
      <table aria-label="Who may submit where" className="w-full">
        <thead>
          <tr className="border-b border-line">
            <th scope="col" className="py-2 pr-4 text-left text-xs font-medium text-muted">
              who submits
            </th>
            {owners.map((owner) => (
              <th
                key={owner}
                scope="col"
                className="px-3 py-2 text-left text-xs font-medium whitespace-nowrap text-muted"
              >
                to queues of <span className="text-ink">{owner}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row} className="border-b border-line/60 last:border-0">
              <th scope="row" className="py-2 pr-4 text-left font-medium whitespace-nowrap">
                {row}
              </th>
              {owners.map((owner) => (
                <td key={owner} className="px-3 py-2 align-top">
                  <OneCell {...{ row, owner, rights, isPlanned }} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface CellTerms {
  row: string;
  owner: string;
  rights: Right[];
  isPlanned: boolean;
}

function OneCell({ row, owner, rights, isPlanned }: CellTerms) {
  const found = rights.filter(
    (right) => right.owner === owner && (right.project === row || right.person === row),
  );
  if (isPlanned && row === owner) return <Badge word="its own queues" tone="good" />;
  if (found.length === 0) return <Denied owner={owner} isOwn={row === owner} />;
  return (
    <ul className="space-y-1">
      {found.map((right) => (
        <li key={right.policy ?? "own"}>
          {right.policy === null ? (
            <Badge word="its own queues" tone="good" title={`record ${right.seq}`} />
          ) : (
            <Opened right={right} />
          )}
        </li>
      ))}
    </ul>
  );
}

function Denied({ owner, isOwn }: { owner: string; isOwn: boolean }) {
  const why = isOwn ? "it has no part yet" : `${owner} has opened none`;
  return (
    <span className="whitespace-nowrap">
      <Badge word="denied" tone="quiet" /> <span className="text-xs text-muted">{why}</span>
    </span>
  );
}

function Opened({ right }: { right: Right }) {
  const limits = Object.entries(right.limits).map(([word, most]) => `${most} ${word}`);
  return (
    <span title={`record ${right.seq}`}>
      <Badge word={`${right.queue} by ${right.policy}`} tone="info" />
      <span className="ml-1 text-xs whitespace-nowrap text-muted">
        {limits.length > 0 && `at most ${limits.join(", ")}; `}
        {right.until_ms !== null && (
          <>
            ends <Age ms={right.until_ms} />
          </>
        )}
      </span>
    </span>
  );
}
