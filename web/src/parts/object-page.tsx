// The frame of every object's page: what it is, what may be done, facts, relations, history, and the
// command that shows the same.
import type { ReactNode } from "react";
import { CommandLine } from "./copy";

interface ObjectTerms {
  noun: string;
  name: string;
  state?: ReactNode;
  actions?: ReactNode;
  command: string;
  children: ReactNode;
}

export function ObjectPage({ noun, name, state, actions, command, children }: ObjectTerms) {
  return (
    <article className="space-y-4">
      <header className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <h1 className="min-w-0 text-xl font-semibold tracking-tight break-words">
          <span className="font-normal text-muted">{noun} </span>
          {name}
        </h1>
        {state}
        <div className="flex flex-wrap gap-2 sm:ml-auto">{actions}</div>
      </header>
      {children}
      <section aria-label="The same on the command line" className="space-y-1">
        <h2 className="text-xs text-muted">The same on the command line</h2>
        <CommandLine command={command} />
      </section>
    </article>
  );
}

/** The head of a list or a home. */
export function PageHead({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <header className="mb-4 flex flex-wrap items-center gap-x-3 gap-y-2">
      <h1 className="text-xl font-semibold tracking-tight">{title}</h1>
      <div className="flex flex-wrap items-center gap-2 sm:ml-auto">{children}</div>
    </header>
  );
}
