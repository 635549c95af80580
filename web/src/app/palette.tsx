// The command palette: every page, and every object by its name or number. Pages and names that this
// browser has seen are found at once; a number is offered as whatever it could be.
import { Dialog } from "@base-ui/react/dialog";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useId, useState, type KeyboardEvent } from "react";
import type { Schemas } from "@/api/client";
import { Sheet } from "@/parts/sheet";
import { pagesFor, type PageRow } from "./pages";
import { useTenants } from "./scope";
import { useWho } from "./who";

interface Hit {
  to: string;
  title: string;
  kind: string;
}

const SHOWN_MAX = 12;

/** What a text may mean, best first: pages, then names that begin with it, then names that hold it. */
export function findHits(
  text: string,
  known: Hit[],
  pages: Pick<PageRow, "to" | "title">[],
): Hit[] {
  const wanted = text.trim().toLowerCase();
  const all = [...pages.map(({ to, title }) => ({ to, title, kind: "page" })), ...known];
  if (wanted === "") return all.slice(0, SHOWN_MAX);
  const numbered = /^\d{1,15}$/.test(wanted)
    ? (["job", "lease", "queue"] as const).map((noun) => ({
        to: `/${noun === "queue" ? "queue" : `${noun}s`}/${wanted}`,
        title: `${noun === "queue" ? "queue entry" : noun} ${wanted}`,
        kind: "by number",
      }))
    : [];
  const begins = all.filter((hit) => hit.title.toLowerCase().startsWith(wanted));
  const holds = all.filter(
    (hit) => !begins.includes(hit) && hit.title.toLowerCase().includes(wanted),
  );
  return [...numbered, ...begins, ...holds].slice(0, SHOWN_MAX);
}

function useKnown(isOpen: boolean): Hit[] {
  const client = useQueryClient();
  const tenants = useTenants().data ?? [];
  if (!isOpen) return [];
  const hits: Hit[] = tenants.map((each) => ({
    to: `/tenants/${each.tenant}`,
    title: each.tenant,
    kind: "tenant",
  }));
  const nodes = client.getQueryData<Schemas["Node"][]>(["nodes", "all"]) ?? [];
  for (const each of nodes)
    hits.push({ to: `/nodes/${each.node}`, title: each.node, kind: "node" });
  for (const [, projects] of client.getQueriesData<Schemas["Project"][]>({
    queryKey: ["tenants"],
  })) {
    for (const each of projects ?? []) {
      if (each.project === undefined) continue;
      const to = `/tenants/${each.tenant}/projects/${each.project}`;
      hits.push({ to, title: `${each.tenant}/${each.project}`, kind: "project" });
    }
  }
  return hits;
}

export function Palette({
  isOpen,
  setOpen,
}: {
  isOpen: boolean;
  setOpen: (open: boolean) => void;
}) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const navigate = useNavigate();
  const self = useWho();
  const list = useId();
  const hits = findHits(text, useKnown(isOpen), pagesFor(self));
  useEffect(() => setAt(0), [text, isOpen]);

  function go(hit: Hit | undefined) {
    if (hit === undefined) return;
    setOpen(false);
    setText("");
    void navigate({ to: hit.to });
  }
  function press(event: KeyboardEvent) {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      setAt((at + step + hits.length) % Math.max(1, hits.length));
    } else if (event.key === "Enter") {
      event.preventDefault();
      go(hits[at]);
    }
  }
  return (
    <Sheet isOpen={isOpen} setOpen={setOpen}>
      <Dialog.Title className="sr-only">Find a page or an object</Dialog.Title>
      <input
        role="combobox"
        aria-expanded
        aria-controls={list}
        aria-activedescendant={hits[at] === undefined ? undefined : `${list}-${at}`}
        aria-label="Find"
        className="w-full border-b border-line bg-transparent px-4 py-3 text-base outline-none placeholder:text-muted"
        placeholder="A page, a tenant, a node, a number"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={press}
        autoFocus
      />
      <ul id={list} role="listbox" aria-label="Found" className="p-2">
        {hits.map((hit, index) => (
          <li
            key={`${hit.kind} ${hit.to}`}
            id={`${list}-${index}`}
            role="option"
            aria-selected={index === at}
            className="flex cursor-pointer items-center gap-3 rounded-md px-3 py-2 aria-selected:bg-accent-soft"
            onMouseMove={() => setAt(index)}
            onClick={() => go(hit)}
          >
            <span className="min-w-0 flex-1 truncate">{hit.title}</span>
            <span className="text-xs text-muted">{hit.kind}</span>
          </li>
        ))}
      </ul>
      {hits.length === 0 && <p className="px-4 pb-4 text-muted">Nothing has that name here.</p>}
    </Sheet>
  );
}
