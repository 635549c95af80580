// One shared runtime: how it stands, who has a part by which consents, whose workers it has, who may
// submit where, what was used; and what each side may do about it.
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import type { Schemas } from "@/api/client";
import { useMay } from "@/app/may";
import { useScope } from "@/app/scope";
import { Age } from "@/parts/age";
import { Badge } from "@/parts/badge";
import { Action } from "@/parts/confirm";
import { PlaceLink } from "@/parts/links";
import { ObjectPage } from "@/parts/object-page";
import { Story } from "@/parts/story";
import { Facts, Panel } from "@/parts/panel";
import { Loaded } from "@/parts/states";
import { span } from "@/words/amounts";
import { Attachments } from "./attachments";
import { deleteRuntime, useRuntime } from "./queries";
import { QueueAsking } from "./queue-asking";
import { Queues } from "./queues";
import { instanceTone } from "./tones";
import { Usage } from "./usage";
import { Workers } from "./workers";

type View = Schemas["SharedRuntimeView"];

export function Page() {
  const path = useParams({ strict: false }) as { tenant: string; runtime: string };
  const query = useRuntime(path);
  return <Loaded query={query}>{(view) => <RuntimeView view={view} />}</Loaded>;
}

function RuntimeView({ view }: { view: View }) {
  const { runtime: row } = view;
  const path = { tenant: row.tenant, runtime: row.runtime };
  const may = useMay(row.tenant, null);
  const navigate = useNavigate();
  const { scope } = useScope();
  const project = scope.tenant === row.tenant ? scope.project : null;
  return (
    <ObjectPage
      noun="shared runtime"
      name={row.runtime}
      state={
        <Badge
          word={row.is_leaving ? "being deleted" : row.phase}
          tone={row.is_leaving ? "warn" : instanceTone(row.phase)}
        />
      }
      command={`bailiwick shared show ${row.runtime} --tenant ${row.tenant}`}
      actions={
        !row.is_leaving &&
        may("shared_runtime.delete") && (
          <Action
            label="Delete it"
            title={`Delete the shared runtime ${row.runtime}?`}
            isBad
            change={(dryRun) => deleteRuntime(path, dryRun)}
            onDone={() => navigate({ to: "/runtimes" })}
          >
            <p>
              Every project is detached and has its workers back within{" "}
              {span(row.withdraw_within_ms)}; work that runs there is ended. It does not come back.
            </p>
          </Action>
        )
      }
    >
      <NextSteps view={view} />
      <div className="grid gap-4 lg:grid-cols-2">
        <Panel title="What it is">
          <Facts rows={whatRows(row)} />
        </Panel>
        <Panel title="Whose it is, and who pays">
          <Facts rows={ownerRows(view)} />
        </Panel>
      </div>
      <Attachments view={view} />
      <Workers view={view} />
      <Queues view={view} asks={project} />
      <QueueAsking view={view} prefers={project} />
      <Usage view={view} />
      <Story of={{ subject: "runtime", name: path.runtime, tenant: path.tenant }} />
    </ObjectPage>
  );
}

/** What is missing before the first job can run, in words. */
function NextSteps({ view }: { view: View }) {
  const { runtime: row } = view;
  const waiting = view.attachments.filter((each) => each.phase === "requested");
  const isServed = row.phase === "running";
  if (row.is_leaving || (waiting.length === 0 && isServed)) return null;
  return (
    <Panel title="What is left to do">
      <ol className="list-decimal space-y-1 pl-5">
        {waiting.map((each) => (
          <li key={each.project}>
            {each.accepted_by === null ? (
              <>
                Somebody who administers{" "}
                <PlaceLink tenant={row.tenant} project={each.project} /> accepts the part that{" "}
                {each.allowed_by} allowed it: on this page, or with{" "}
                <code className="font-mono text-xs">
                  bailiwick shared accept {row.runtime} --project {each.project}
                </code>
                .
              </>
            ) : (
              <>The tenant allows {each.project} the part that {each.accepted_by} asks for.</>
            )}
          </li>
        ))}
        {!isServed && (
          <li>
            Its members come up, and its operator reports that it runs. Whoever looks after it starts
            that with{" "}
            <code className="font-mono text-xs">
              bailiwick shared operator-token {row.runtime} --tenant {row.tenant}
            </code>
            .
          </li>
        )}
      </ol>
    </Panel>
  );
}

function whatRows(row: Schemas["SharedRuntimeRow"]): [string, React.ReactNode][] {
  const where = Object.entries(row.controller).map(([name, value]) => `${name}=${value}`);
  return [
    [
      "app",
      <>
        <Link to="/apps/$app" params={{ app: row.app }} className="link">
          {row.app}
        </Link>{" "}
        {row.version}
      </>,
    ],
    ["environment", row.environment],
    ["controller on", where.length === 0 ? "any node" : `nodes with ${where.join(", ")}`],
    ["instance", <BehindIt row={row} />],
    ["since", <Age ms={row.created_ms} />],
    ["record", row.seq],
  ];
}

/** It is the owner record's: a link for who may read it there. */
function BehindIt({ row }: { row: Schemas["SharedRuntimeRow"] }) {
  const mayRead = useMay(row.tenant, row.owner_project)("instance.read");
  if (!mayRead) return row.instance_id;
  const params = {
    tenant: row.tenant,
    project: row.owner_project,
    id: String(row.instance_id),
  };
  return (
    <Link
      to="/tenants/$tenant/projects/$project/instances/$id"
      params={params}
      className="link"
    >
      {row.instance_id}
    </Link>
  );
}

function ownerRows(view: View): [string, React.ReactNode][] {
  const { runtime: row } = view;
  return [
    ["owned by", <PlaceLink tenant={row.tenant} project={null} />],
    [
      "owner record",
      <>
        <PlaceLink tenant={row.tenant} project={row.owner_project} />{" "}
        <span className="text-muted">pays for the controller and what is reserved</span>
      </>,
    ],
    ["accepted by", row.accepted_by],
    ["given workers", "each is paid by the project that gives it"],
    ["back within", span(row.withdraw_within_ms)],
    [
      "rule's digest",
      <code className="font-mono text-xs break-all">{row.billing_digest}</code>,
    ],
  ];
}
