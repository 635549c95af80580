// The catalog: every app that one may see, and what one may do with it.
import { Link } from "@tanstack/react-router";
import { Boxes } from "lucide-react";
import type { Schemas } from "@/api/client";
import { Badge } from "@/parts/badge";
import { CommandLine } from "@/parts/copy";
import { PageHead } from "@/parts/object-page";
import { Empty, Failed, Skeleton } from "@/parts/states";
import { useAppRows } from "./queries";
import { lifeTone } from "./tones";

export function Page() {
  const { query, rows } = useAppRows();
  return (
    <>
      <PageHead title="Apps" />
      {query.isPending && <Skeleton lines={6} />}
      {query.isError && <Failed error={query.error} retry={() => void query.refetch()} />}
      {query.isSuccess && rows.length === 0 && (
        <div className="panel">
          <Empty title="No apps yet">
            <code className="font-mono text-xs">bailiwick app publish manifest.yaml</code>
          </Empty>
        </div>
      )}
      <ul className="grid gap-4 sm:grid-cols-2 xl:grid-cols-3" aria-label="Apps">
        {rows.map((app) => (
          <Card key={app.app} app={app} />
        ))}
      </ul>
      {query.hasNextPage && (
        <button type="button" className="button mt-4" onClick={() => void query.fetchNextPage()}>
          More
        </button>
      )}
      <div className="mt-4">
        <CommandLine command="bailiwick app list" />
      </div>
    </>
  );
}

function Card({ app }: { app: Schemas["App"] }) {
  return (
    <li className="panel flex flex-col gap-2 p-4">
      <div className="flex items-start gap-3">
        <span className="rounded-md bg-accent-soft p-2 text-accent">
          <Boxes size={20} aria-hidden />
        </span>
        <div className="min-w-0 flex-1">
          <h2 className="font-semibold">
            <Link to="/apps/$app" params={{ app: app.app }} className="link">
              {app.app}
            </Link>
          </h2>
          <p className="truncate text-muted">{app.title}</p>
        </div>
        <Badge word={app.lifecycle} tone={lifeTone(app.lifecycle)} />
      </div>
      <p className="text-xs text-muted">
        newest {app.newest}, {app.versions} {app.versions === 1 ? "version" : "versions"},{" "}
        {app.tenant === null ? "of the platform" : `of ${app.tenant}`}, {app.visibility}
      </p>
    </li>
  );
}
