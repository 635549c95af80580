// Break-glass: a short token with all of one's rights. Why and for whom is sealed first; it is tried
// without effect, then asked for, shown once, and counts down.
import { useMutation } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { api, ask, type Schemas } from "@/api/client";
import { useMay } from "@/app/may";
import { useTenantNames } from "@/app/scope";
import { useNow } from "@/parts/age";
import { CommandLine, CopyButton } from "@/parts/copy";
import { Labelled } from "@/parts/labelled";
import { PageHead } from "@/parts/object-page";
import { Panel } from "@/parts/panel";
import { Empty, Failed } from "@/parts/states";
import { span } from "@/words/amounts";

const REASON_MIN = 10;
const REASON_MAX = 500;
const TERMS: [number, string][] = [
  [60, "1 minute"],
  [300, "5 minutes"],
  [900, "15 minutes"],
];

export function Page() {
  const may = useMay(null, null);
  return (
    <>
      <PageHead title="Break-glass" />
      {may("glass.break") ? (
        <Glass />
      ) : (
        <div className="panel">
          <Empty title="Your keys do not open this">
            It takes <code className="font-mono text-xs">iam.break_glass.use</code>.
          </Empty>
        </div>
      )}
      <div className="mt-4 space-y-1">
        <h2 className="text-xs text-muted">The same on the command line</h2>
        <CommandLine command='bailiwick break-glass "node n7 burns, its owner is away" --ttl 5m' />
      </div>
    </>
  );
}

function Glass() {
  const [reason, setReason] = useState("");
  const [tenant, setTenant] = useState("");
  const [term, setTerm] = useState(300);
  const names = useTenantNames();
  const body = { reason: reason.trim(), ttl_s: term, tenant: tenant || null };
  const send = (dryRun: boolean) =>
    ask(api.POST("/v1/break-glass", { params: { query: { dry_run: String(dryRun) } }, body }));
  const tried = useMutation({ mutationFn: () => send(true) });
  const broken = useMutation({ mutationFn: () => send(false) });
  const isTold = body.reason.length >= REASON_MIN && body.reason.length <= REASON_MAX;
  function change<T>(set: (value: T) => void): (value: T) => void {
    return (value) => {
      set(value);
      tried.reset();
    };
  }
  function submit(event: FormEvent) {
    event.preventDefault();
    if (isTold) tried.mutate();
  }
  if (broken.data !== undefined) {
    return <Token token={broken.data} reason={body.reason} end={() => (broken.reset(), tried.reset())} />;
  }
  return (
    <Panel title="All of your rights, for minutes">
      <form onSubmit={submit} className="max-w-2xl space-y-3">
        <p>
          It gives nobody what his roles do not give him. Who, why, for whom and until when is{" "}
          <strong>sealed in the journal for good</strong>, before there is a token, and the auditors
          of that tenant read it.
        </p>
        <Labelled
          label="Why, in a sentence"
          hint={`${REASON_MIN} to ${REASON_MAX} characters; ${body.reason.length} so far`}
        >
          {(ids) => (
            <textarea
              {...ids}
              className="field"
              rows={3}
              maxLength={REASON_MAX}
              value={reason}
              onChange={(event) => change(setReason)(event.target.value)}
            />
          )}
        </Labelled>
        <div className="grid gap-3 sm:grid-cols-2">
          <Labelled label="For whose sake">
            {(ids) => (
              <select
                {...ids}
                className="field"
                value={tenant}
                onChange={(event) => change(setTenant)(event.target.value)}
              >
                <option value="">the fleet's</option>
                {names.map((name) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
            )}
          </Labelled>
          <Labelled label="For how long">
            {(ids) => (
              <select
                {...ids}
                className="field"
                value={term}
                onChange={(event) => change(setTerm)(Number(event.target.value))}
              >
                {TERMS.map(([seconds, title]) => (
                  <option key={seconds} value={seconds}>
                    {title}
                  </option>
                ))}
              </select>
            )}
          </Labelled>
        </div>
        {tried.isError && <Failed error={tried.error} />}
        {broken.isError && <Failed error={broken.error} />}
        {tried.isSuccess && (
          <p role="status" className="rounded-md border border-warn/40 bg-warn-soft px-3 py-2 text-warn">
            Tried without effect: the server would do it. It cannot be taken back.
          </p>
        )}
        <div className="flex flex-wrap gap-2">
          <button type="submit" className="button" disabled={!isTold || tried.isPending}>
            Try it first
          </button>
          <button
            type="button"
            className="button button-bad"
            disabled={!tried.isSuccess || broken.isPending}
            onClick={() => broken.mutate()}
          >
            Break the glass
          </button>
        </div>
      </form>
    </Panel>
  );
}

interface TokenTerms {
  token: Schemas["IssuedToken"];
  reason: string;
  end: () => void;
}

function Token({ token, reason, end }: TokenTerms) {
  const now = useNow();
  const leftMs = Math.max(0, Math.floor((token.expires_ms - now) / 1_000) * 1_000);
  const isOver = leftMs === 0;
  return (
    <Panel title={isOver ? "It is over" : "The glass is broken"}>
      <div className="max-w-2xl space-y-3">
        <p role="timer" aria-live="off" className="text-3xl font-semibold tracking-tight">
          {isOver ? "ended" : `${span(leftMs)} left`}
        </p>
        <p className="text-muted">Sealed: “{reason}”</p>
        {!isOver && (
          <>
            <p>The token is shown this once, and is not kept by this browser.</p>
            <div className="flex items-center gap-1 rounded-md bg-raised px-3 py-2">
              <code className="min-w-0 flex-1 font-mono text-xs break-all">{token.token}</code>
              <CopyButton text={token.token} label="Copy the token" />
            </div>
            <CommandLine command="BAILIWICK_TOKEN=... bailiwick node drain n7" />
          </>
        )}
        <button type="button" className="button" onClick={end}>
          Put it away
        </button>
      </div>
    </Panel>
  );
}
