// What every page has besides its content: loading, empty, failed.
import type { UseQueryResult } from "@tanstack/react-query";
import { CircleAlert, RotateCw } from "lucide-react";
import type { ReactNode } from "react";
import { isGone, Problem } from "@/api/problem";
import { CopyButton } from "./copy";

export function Skeleton({ lines = 3 }: { lines?: number }) {
  return (
    <div role="status" aria-label="loading" className="space-y-2 py-1">
      {Array.from({ length: lines }, (_, at) => (
        <div key={at} className={`skeleton h-4 rounded bg-raised ${at % 3 === 2 ? "w-2/3" : ""}`} />
      ))}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="px-4 py-8 text-center">
      <p className="font-medium">{title}</p>
      {children !== undefined && (
        <div className="mx-auto mt-1 max-w-prose text-muted">{children}</div>
      )}
    </div>
  );
}

/** An error as the server's own sentence, with what a person who helps will ask for. */
export function Failed({ error, retry }: { error: unknown; retry?: () => void }) {
  const problem = error instanceof Problem ? error : null;
  const message = problem?.message ?? String(error);
  const text =
    problem === null
      ? message
      : `${message} (${problem.code}, ${problem.correlationId ?? "no id"})`;
  return (
    <div
      role="alert"
      className="flex gap-2 rounded-md border border-bad/40 bg-bad-soft px-3 py-2 text-bad"
    >
      <CircleAlert size={16} className="mt-0.5 shrink-0" aria-hidden />
      <div className="min-w-0 flex-1">
        <p className="font-medium break-words">{message}</p>
        {problem?.correlationId && (
          <p className="mt-0.5 flex flex-wrap items-center gap-x-2 text-xs">
            <span>{problem.code}</span>
            <code className="font-mono break-all">{problem.correlationId}</code>
          </p>
        )}
      </div>
      <CopyButton text={text} label="Copy the error" />
      {retry !== undefined && (
        <button type="button" className="button h-8" onClick={retry}>
          <RotateCw size={14} aria-hidden /> Try again
        </button>
      )}
    </div>
  );
}

/** The content once it is there; until then, and where it cannot be, what stands in its place. */
export function Loaded<T>({
  query,
  lines,
  isPart = false,
  children,
}: {
  query: UseQueryResult<T>;
  lines?: number;
  /** A part of a thing whose page says by itself that the thing is gone. */
  isPart?: boolean;
  children: (data: T) => ReactNode;
}) {
  if (query.data !== undefined) {
    return (
      <>
        {query.isError && !(isPart && isGone(query.error)) && <Failed error={query.error} />}
        {children(query.data)}
      </>
    );
  }
  if (query.isError) return <Failed error={query.error} retry={() => void query.refetch()} />;
  return <Skeleton lines={lines} />;
}
