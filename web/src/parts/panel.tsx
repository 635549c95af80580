// A titled box: what most of a page is made of.
import type { ReactNode } from "react";

interface PanelTerms {
  title: string;
  aside?: ReactNode;
  children: ReactNode;
  flush?: boolean;
  className?: string;
}

export function Panel({ title, aside, children, flush = false, className = "" }: PanelTerms) {
  return (
    <section className={`panel min-w-0 ${className}`} aria-label={title}>
      <header className="flex min-h-10 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-1.5">
        <h2 className="font-semibold">{title}</h2>
        {aside !== undefined && <div className="ml-auto text-sm text-muted">{aside}</div>}
      </header>
      <div className={flush ? "" : "px-4 py-3"}>{children}</div>
    </section>
  );
}

/** A number that a page opens with. */
export function Figure({
  label,
  value,
  note,
}: {
  label: string;
  value: ReactNode;
  note?: ReactNode;
}) {
  return (
    <div className="panel min-w-0 px-4 py-3">
      <div className="text-xs text-muted">{label}</div>
      <div className="mt-0.5 truncate text-lg sm:text-2xl font-semibold tracking-tight">
        {value}
      </div>
      {note !== undefined && <div className="mt-0.5 text-xs text-muted">{note}</div>}
    </div>
  );
}

/** Names and values, aligned. */
export function Facts({ rows }: { rows: [string, ReactNode][] }) {
  return (
    <dl className="grid grid-cols-[minmax(6.5rem,auto)_1fr] gap-x-4 gap-y-1.5">
      {rows.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-muted">{name}</dt>
          <dd className="min-w-0 break-words">{value ?? <span className="text-muted">-</span>}</dd>
        </div>
      ))}
    </dl>
  );
}
