// The isolation policy: who may not meet whom, and where. As one types, the server says what is
// wrong at which character, and what the policy would do to the work that runs; then one may set it.
import { Link } from "@tanstack/react-router";
import { useId, useRef, useState } from "react";
import { api, ask, type Schemas } from "@/api/client";
import { useMay } from "@/app/may";
import { Age } from "@/parts/age";
import { Badge } from "@/parts/badge";
import { Action } from "@/parts/confirm";
import { CommandLine } from "@/parts/copy";
import { DataTable } from "@/parts/data-table";
import { EntryLink, LeaseLink, NodeLink, PlaceLink } from "@/parts/links";
import { PageHead } from "@/parts/object-page";
import { Panel } from "@/parts/panel";
import { Story } from "@/parts/story";
import { Empty, Failed, Loaded, Skeleton } from "@/parts/states";
import { count, spell } from "@/words/amounts";
import { assertNever } from "@/words/assert-never";
import type { Tone } from "@/words/tones";
import { PolicyEditor } from "./editor";
import { offsetOf, type Problem } from "./marks";
import { linesOf } from "./search";
import { SearchPanel, usePolicySearch } from "./search-panel";
import { setPolicy, useLint, usePolicy, usePreview, useSettled } from "./queries";

type Policy = Schemas["IsolationPolicy"];
type Finding = Schemas["IsolationFinding"];

export function Page() {
  const query = usePolicy();
  return (
    <>
      <Loaded query={query} lines={10}>
        {(policy) => <Workbench key={policy.version} policy={policy} />}
      </Loaded>
      <div className="mt-4">
        <Story of={{ subject: "policy" }} />
      </div>
      <div className="mt-4 space-y-1">
        <h2 className="text-xs text-muted">The same on the command line</h2>
        <CommandLine command="bailiwick isolation show" />
      </div>
    </>
  );
}

function Workbench({ policy }: { policy: Policy }) {
  const [text, setText] = useState(policy.text);
  const settled = useSettled(text);
  const may = useMay(null, null);
  const lint = useLint(settled);
  const isChanged = text !== policy.text;
  const problems = lint.data?.problems ?? [];
  const isClean = lint.data !== undefined && problems.length === 0 && !lint.isPlaceholderData;
  const preview = usePreview(settled, isClean && isChanged);
  const field = useRef<HTMLTextAreaElement>(null);
  const list = useId();
  const search = usePolicySearch();
  function goToLine(line: number) {
    const found = text.split("\n")[line - 1] ?? "";
    goTo({ line, column: 1, found, sentence: "", nearest: null });
  }
  function goTo(problem: Problem) {
    const [start, end] = offsetOf(text, problem);
    field.current?.focus();
    field.current?.setSelectionRange(start, end);
  }
  const isReady = isChanged && isClean && settled === text && preview.isSuccess;
  return (
    <>
      <PageHead title="Isolation">
        <span className="text-sm text-muted">
          {policy.version === 0 ? (
            "no policy was set yet"
          ) : (
            <>
              version {policy.version}, {count(policy.rules)} rules, set <Age ms={policy.set_ms} />
            </>
          )}
        </span>
        {isChanged && (
          <button type="button" className="button" onClick={() => setText(policy.text)}>
            Back to what is in force
          </button>
        )}
        {may("isolation.set") && isReady && (
          <Action
            label="Set this policy"
            title="Set this isolation policy"
            change={(dryRun) => setPolicy(text, policy.version, dryRun)}
            isBad={(preview.data?.leaving ?? 0) > 0}
          >
            It is in force at once, instead of version {policy.version}.{" "}
            <strong>{leavingTold(preview.data?.leaving ?? 0)}</strong>
          </Action>
        )}
      </PageHead>
      <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
        <div className="min-w-0 space-y-4">
          <PolicyEditor
            label="The policy's text"
            text={text}
            setText={setText}
            problems={settled === text ? problems : []}
            broken={linesOf(search.heard, text)}
            isReadOnly={!may("isolation.preview")}
            field={field}
            describedBy={list}
          />
          <Preview query={preview} isOn={isClean && isChanged} />
          {may("isolation.search") && (
            <SearchPanel
              search={search}
              text={text}
              hindered={hindrance(text, problems)}
              goTo={goToLine}
            />
          )}
        </div>
        <div className="min-w-0 space-y-4">
          <section id={list} aria-live="polite" aria-label="What is wrong">
            {lint.isError ? (
              <Failed error={lint.error} retry={() => void lint.refetch()} />
            ) : lint.data === undefined ? (
              <Skeleton lines={3} />
            ) : (
              <Lint problems={problems} findings={lint.data.findings} goTo={goTo} />
            )}
          </section>
          <Residues rows={policy.residues} mayScrub={may("isolation.scrub")} />
        </div>
      </div>
    </>
  );
}

function hindrance(text: string, problems: Problem[]): string | null {
  if (text.trim() === "") return "There is no rule to get around.";
  return problems.length > 0 ? "What is wrong with the text comes first." : null;
}

function leavingTold(leaving: number): string {
  if (leaving === 0) return "No lease that runs now has to go.";
  return `${leaving === 1 ? "1 lease has" : `${count(leaving)} leases have`} to go, with grace.`;
}

interface LintTerms {
  problems: Problem[];
  findings: Finding[];
  goTo: (problem: Problem) => void;
}

function Lint({ problems, findings, goTo }: LintTerms) {
  if (problems.length > 0) {
    return (
      <Panel title={problems.length === 1 ? "1 mistake" : `${problems.length} mistakes`}>
        <ol className="space-y-2">
          {problems.map((problem) => (
            <li key={`${problem.line} ${problem.column} ${problem.sentence}`}>
              <button
                type="button"
                className="link text-left"
                onClick={() => goTo(problem)}
                aria-label={`Go to line ${problem.line}, column ${problem.column}`}
              >
                line {problem.line}, column {problem.column}
              </button>
              : {problem.sentence}
            </li>
          ))}
        </ol>
      </Panel>
    );
  }
  return (
    <Panel title="What is to know about it" aside="no mistakes">
      {findings.length === 0 ? (
        <p className="text-muted">Nothing more: every rule can bite, and none is said twice.</p>
      ) : (
        <ul className="space-y-2">
          {findings.map((finding) => (
            <li key={`${finding.code} ${finding.rule} ${finding.line} ${finding.sentence}`}>
              <Badge word={finding.severity} tone={severityTone(finding.severity)} />{" "}
              {finding.line !== null && <span className="text-muted">line {finding.line}: </span>}
              {finding.sentence}
              {finding.fix !== null && <span className="text-muted"> Fix: {finding.fix}.</span>}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

function severityTone(severity: Finding["severity"]): Tone {
  switch (severity) {
    case "error":
      return "bad";
    case "warning":
      return "warn";
    case "note":
      return "quiet";
    default:
      return assertNever(severity);
  }
}

function Preview({ query, isOn }: { query: ReturnType<typeof usePreview>; isOn: boolean }) {
  if (!isOn) {
    return (
      <p className="text-muted">
        Change the text, and what it would do to the work that runs and waits is shown here, before
        anything is set.
      </p>
    );
  }
  return (
    <Loaded query={query}>
      {(found) => (
        <>
          <Panel
            title="What it would do now"
            flush={found.leavers.length > 0}
            aside={`${count(found.rules)} rules, tried on top of version ${found.version}`}
          >
            {found.leavers.length === 0 ? (
              <Empty title="Nobody has to go">All that runs now may stay where it is.</Empty>
            ) : (
              <>
                <p className="px-4 py-2 font-semibold text-bad">{leavingTold(found.leaving)}</p>
                <DataTable
                  label="Leases that would have to go"
                  rows={found.leavers}
                  rowId={(row) => row.lease_id}
                  cells={LEAVERS}
                />
              </>
            )}
          </Panel>
          {found.never.length > 0 && (
            <Panel title="Could never run again" flush>
              <DataTable
                label="Requests that no node could run"
                rows={found.never}
                rowId={(row) => row.entry_id}
                cells={[
                  { header: "queue entry", cell: (row) => <EntryLink id={row.entry_id} /> },
                  {
                    header: "of",
                    cell: (row) => <PlaceLink tenant={row.tenant} project={row.project} />,
                  },
                  { header: "by the rule", cell: (row) => row.rule },
                ]}
              />
            </Panel>
          )}
        </>
      )}
    </Loaded>
  );
}

type Leaver = Schemas["IsolationLeaver"];

const LEAVERS = [
  { header: "lease", cell: (row: Leaver) => <LeaseLink id={row.lease_id} /> },
  { header: "of", cell: (row: Leaver) => <PlaceLink tenant={row.tenant} project={row.project} /> },
  { header: "on", cell: (row: Leaver) => <NodeLink name={row.node} /> },
  {
    header: "by the rule",
    cell: (row: Leaver) => (row.is_along ? `${row.rule}, with its gang` : row.rule),
  },
  {
    header: "because of",
    cell: (row: Leaver) => (
      <>
        {row.kind === null ? "the node's labels" : `${spell(row.kind)} ${row.domain}`}
        {row.partners.length > 0 && (
          <>
            , beside{" "}
            {row.partners.slice(0, 4).map((id) => (
              <span key={id} className="mr-1">
                <LeaseLink id={id} />
              </span>
            ))}
          </>
        )}
      </>
    ),
  },
];

type Residue = Schemas["IsolationResidue"];

function Residues({ rows, mayScrub }: { rows: Residue[]; mayScrub: boolean }) {
  return (
    <Panel title="Kept for those who left">
      {rows.length === 0 ? (
        <p className="text-muted">Nothing: no domain waits to be scrubbed.</p>
      ) : (
        <ul className="space-y-2">
          {rows.map((row) => (
            <li key={`${row.rule} ${row.kind} ${row.domain}`} className="flex items-center gap-3">
              <span className="min-w-0 flex-1">
                {spell(row.kind)} <code className="font-mono text-xs">{row.domain}</code> by{" "}
                {row.rule}, left <Age ms={row.left_ms} />
                {row.until_ms === null ? ", until it is scrubbed" : ""}
              </span>
              {mayScrub && <Scrub row={row} />}
            </li>
          ))}
        </ul>
      )}
      <p className="mt-3 text-xs text-muted">
        Findings and attestation are under{" "}
        <Link to="/security" className="link">
          Security
        </Link>
        .
      </p>
    </Panel>
  );
}

function Scrub({ row }: { row: Residue }) {
  const change = (dryRun: boolean) => {
    const params = { query: { dry_run: String(dryRun) } };
    const body = { kind: row.kind, domain: row.domain };
    return ask(api.POST("/v1/isolation/scrub", { params, body }));
  };
  return (
    <Action label="It is scrubbed" title={`${spell(row.kind)} ${row.domain}`} change={change}>
      You made sure that nothing of those who left is in it any more. It is for everybody again.
    </Action>
  );
}
