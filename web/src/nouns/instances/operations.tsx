// What is under way and what ended: each with its progress, its log and its result.
import { useState } from "react";
import type { Schemas } from "@/api/client";
import { Age, Lasted } from "@/parts/age";
import { Badge } from "@/parts/badge";
import { Panel } from "@/parts/panel";
import { Empty, Loaded } from "@/parts/states";
import { spell } from "@/words/amounts";
import { assertNever } from "@/words/assert-never";
import type { Tone } from "@/words/tones";
import { useOperations, type InstancePath } from "./queries";

type Operation = Schemas["InstanceOperation"];

export function operationTone(phase: Schemas["OperationPhase"]): Tone {
  switch (phase) {
    case "pending":
      return "quiet";
    case "running":
      return "info";
    case "succeeded":
      return "good";
    case "failed":
      return "bad";
    default:
      return assertNever(phase);
  }
}

export function Operations({ path }: { path: InstancePath }) {
  const query = useOperations(path);
  return (
    <Panel title="Operations" flush>
      <Loaded query={query} isPart>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="None yet" />
          ) : (
            <ul aria-label="Operations">
              {[...rows]
                .sort((a, b) => b.operation_id - a.operation_id)
                .map((row) => (
                  <OneOperation key={row.operation_id} row={row} />
                ))}
            </ul>
          )
        }
      </Loaded>
    </Panel>
  );
}

function OneOperation({ row }: { row: Operation }) {
  const [isOpen, setOpen] = useState(false);
  const hasMore = row.log.length > 0 || row.result !== "";
  const title = [spell(row.kind), row.component_key, row.title].filter(Boolean).join(" ");
  return (
    <li className="border-b border-line/60 px-4 py-2 last:border-0">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="font-medium">{title}</span>
        <Badge word={row.phase} tone={operationTone(row.phase)} />
        {row.ended_ms === null && (
          <span className="flex min-w-32 flex-1 items-center gap-2">
            <span
              role="progressbar"
              aria-label={`Progress of ${title}`}
              aria-valuemin={0}
              aria-valuemax={100}
              aria-valuenow={row.progress}
              className="block h-1.5 flex-1 overflow-hidden rounded-full bg-raised"
            >
              <span
                className="block h-full rounded-full bg-accent"
                style={{ width: `${row.progress}%` }}
              />
            </span>
            <span className="text-xs text-muted">{row.progress} %</span>
          </span>
        )}
        <span className="ml-auto text-xs text-muted">
          began <Age ms={row.begun_ms} />, took <Lasted from={row.begun_ms} to={row.ended_ms} />
        </span>
        {hasMore && (
          <button
            type="button"
            className="link text-xs"
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            {isOpen ? "less" : "log and result"}
          </button>
        )}
      </div>
      {isOpen && (
        <pre tabIndex={0} className="mt-2 overflow-x-auto rounded-md bg-raised p-3 font-mono text-xs">
          {[...row.log, row.result].filter((line) => line !== "").join("\n")}
        </pre>
      )}
    </li>
  );
}
