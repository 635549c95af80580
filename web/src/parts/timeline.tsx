// What happened, each with the sealed record behind it.
import { ChevronRight } from "lucide-react";
import { useState, type ReactNode } from "react";
import type { Schemas } from "@/api/client";
import { spell } from "@/words/amounts";
import { Age, moment } from "./age";
import { CopyButton } from "./copy";
import { RecordLink } from "./links";
import { inRuns } from "./runs";
import { Empty } from "./states";

export type JournalRecord = Schemas["JournalRecord"];

export function Timeline({ records }: { records: JournalRecord[] }) {
  if (records.length === 0) return <Empty title="No records yet" />;
  return (
    <ol>
      {inRuns(records).map((run) =>
        run.length === 1 ? (
          run.map((record) => <OneRecord key={record.seq} record={record} />)
        ) : (
          // Its oldest: as it grows, what was opened stays open.
          <Run key={run.at(-1)?.seq} records={run} />
        ),
      )}
    </ol>
  );
}

function OneRecord({ record }: { record: JournalRecord }) {
  return (
    <Moment
      kind={record.kind}
      seq={record.seq}
      tenant={record.tenant}
      atMs={record.at_ms}
      told={<>by {record.actor}</>}
    >
      <SealedRecord record={record} />
    </Moment>
  );
}

/** What somebody did again and again, on one line: the rest is not to be searched for between. */
function Run({ records }: { records: JournalRecord[] }) {
  const newest = records[0];
  if (newest === undefined) return null;
  return (
    <Moment
      kind={newest.kind}
      seq={newest.seq}
      tenant={newest.tenant}
      atMs={newest.at_ms}
      told={
        <>
          by {newest.actor}, {records.length} times in a row
        </>
      }
    >
      <ol>
        {records.map((record) => (
          <OneRecord key={record.seq} record={record} />
        ))}
      </ol>
    </Moment>
  );
}

interface MomentTerms {
  kind: string;
  seq: number;
  /** Whose record it is: that links to its page. */
  tenant?: string | null;
  atMs: number;
  told: ReactNode;
  /** What is shown when it is opened. */
  children: ReactNode;
}

export function Moment({ kind, seq, tenant = null, atMs, told, children }: MomentTerms) {
  const [isOpen, setOpen] = useState(false);
  return (
    <li className="border-b border-line/60 last:border-0">
      <div className="flex items-center gap-2 px-3 hover:bg-raised">
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
          className="flex items-center gap-2 py-2 text-left font-medium"
        >
          <ChevronRight
            size={14}
            aria-hidden
            className={`shrink-0 text-muted ${isOpen ? "rotate-90" : ""}`}
          />
          {spell(kind)}
        </button>
        <span className="min-w-0 flex-1 truncate text-muted">{told}</span>
        <span className="hidden text-xs text-muted sm:inline">
          record <RecordLink tenant={tenant} seq={seq} />
        </span>
        <span className="text-xs text-muted">
          <Age ms={atMs} />
        </span>
      </div>
      {isOpen && <div className="px-3 pb-3 sm:pl-9">{children}</div>}
    </li>
  );
}

export function SealedRecord({ record }: { record: JournalRecord }) {
  const text = JSON.stringify(record, null, 2);
  return (
    <>
      <p className="mb-1 flex items-center gap-1 text-xs text-muted">
        {moment(record.at_ms)}, correlation {record.correlation_id}
        <CopyButton text={text} label="Copy the record" />
      </p>
      <pre tabIndex={0} className="overflow-x-auto rounded-md bg-raised p-3 font-mono text-xs">
        {text}
      </pre>
    </>
  );
}
