// One graph, live: which stage waits for which, as a drawing and as a table; an array as a grid; every
// task with its job.
import { useParams } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import type { Schemas } from "@/api/client";
import { may, useWho } from "@/app/who";
import { Age, Lasted } from "@/parts/age";
import { Badge } from "@/parts/badge";
import { Action } from "@/parts/confirm";
import { DataTable, type Cell } from "@/parts/data-table";
import { JobLink, PlaceLink } from "@/parts/links";
import { ObjectPage } from "@/parts/object-page";
import { Facts, Panel } from "@/parts/panel";
import { Empty, Loaded, Skeleton } from "@/parts/states";
import { VirtualTable, type Column } from "@/parts/table";
import { spell } from "@/words/amounts";
import { ArrayGrid } from "./array-grid";
import { countsSentence, FILL, graphTone, phaseCounts, taskTone } from "./phases";
import { cancelGraph, retryGraph, useGraph } from "./queries";

const Drawing = lazy(() => import("./drawing"));

type Detail = Schemas["GraphDetail"];
type Task = Schemas["GraphTask"];

export function Page() {
  const { id } = useParams({ strict: false }) as { id: string };
  const query = useGraph(Number(id));
  return <Loaded query={query}>{(detail) => <GraphView detail={detail} />}</Loaded>;
}

function GraphView({ detail }: { detail: Detail }) {
  const { graph } = detail;
  const [stage, setStage] = useState<string | null>(null);
  const tasks = stage === null ? detail.tasks : detail.tasks.filter((each) => each.stage === stage);
  const arrays = detail.stages.filter((each) => each.tasks > 1);
  return (
    <ObjectPage
      noun="graph"
      name={graph.name ? `${graph.name} (${graph.graph_id})` : String(graph.graph_id)}
      state={<Badge word={graph.phase} tone={graphTone(graph.phase)} />}
      command={`bailiwick graph show graph-${graph.graph_id}`}
      actions={<GraphActions graph={graph} />}
    >
      <div className="grid items-start gap-4 xl:grid-cols-[3fr_2fr]">
        <Panel title="Which waits for which" flush aside={stage === null ? undefined : stage}>
          <Suspense fallback={<Skeleton lines={6} />}>
            <Drawing detail={detail} chosen={stage} choose={setStage} />
          </Suspense>
        </Panel>
        <div className="space-y-4">
          <Panel title="How it goes">
            <Facts rows={howRows(graph)} />
          </Panel>
          <Panel title="Stages" flush>
            <DataTable
              label="Stages"
              cells={stageCells(detail, stage, setStage)}
              rows={detail.stages}
              rowId={(row) => row.name}
            />
          </Panel>
        </div>
      </div>
      {arrays.map((each) => (
        <Panel key={each.name} title={`Array ${each.name}`} aside={`${each.tasks} elements`}>
          <ArrayGrid
            name={each.name}
            tasks={detail.tasks.filter((task) => task.stage === each.name)}
          />
        </Panel>
      ))}
      <Panel
        title={stage === null ? "Tasks" : `Tasks of ${stage}`}
        flush
        aside={
          stage !== null && (
            <button type="button" className="link" onClick={() => setStage(null)}>
              show all
            </button>
          )
        }
      >
        {tasks.length === 0 ? (
          <Empty title="None" />
        ) : (
          <VirtualTable
            label="Tasks"
            columns={TASK_COLUMNS}
            rows={tasks}
            rowId={(row) => row.name}
            heightMax="28rem"
          />
        )}
      </Panel>
      <TriedAgain rows={detail.tried_again ?? []} />
    </ObjectPage>
  );
}

function GraphActions({ graph }: { graph: Schemas["Graph"] }) {
  const self = useWho();
  const id = graph.graph_id;
  const isOver = graph.ended_ms !== null;
  return (
    <>
      {!isOver && !graph.cancel_asked && may(self, "scheduler.queue.cancel", graph) && (
        <Action
          label="Cancel the graph"
          title={`Cancel graph ${id}?`}
          isBad
          change={(dryRun) => cancelGraph(id, dryRun)}
        >
          <p>Tasks that run are ended, and none is begun any more.</p>
        </Action>
      )}
      {isOver && graph.phase !== "succeeded" && may(self, "scheduler.queue.submit", graph) && (
        <Action
          label="Retry what failed"
          title={`Retry graph ${id}?`}
          change={(dryRun) => retryGraph(id, dryRun)}
        >
          <p>What failed is tried again, and what stands after it. What is done stays done.</p>
        </Action>
      )}
    </>
  );
}

function howRows(graph: Schemas["Graph"]): [string, React.ReactNode][] {
  return [
    ["project", <PlaceLink tenant={graph.tenant} project={graph.project} />],
    ["submitted by", graph.submitter],
    ["submitted", <Age ms={graph.submitted_ms} />],
    ["took", <Lasted from={graph.submitted_ms} to={graph.ended_ms} />],
    ["tasks", graph.tasks],
    ["runs on", graph.executor ?? "where there is room"],
  ];
}

type Stage = Schemas["GraphStage"];

function stageCells(
  detail: Detail,
  chosen: string | null,
  choose: (stage: string | null) => void,
): Cell<Stage>[] {
  const tasksOf = (stage: Stage) => detail.tasks.filter((task) => task.stage === stage.name);
  return [
    {
      header: "stage",
      cell: (row) => (
        <button
          type="button"
          className="link"
          aria-pressed={chosen === row.name}
          onClick={() => choose(chosen === row.name ? null : row.name)}
        >
          {row.name}
        </button>
      ),
    },
    { header: "after", cell: (row) => row.after.join(", ") || "-" },
    {
      header: "tasks",
      cell: (row) => (
        <span className="whitespace-nowrap">{countsSentence(phaseCounts(tasksOf(row)))}</span>
      ),
    },
  ];
}

const TASK_COLUMNS: Column<Task>[] = [
  { id: "task", header: "task", width: "minmax(9rem,1fr)", cell: (row) => row.name },
  {
    id: "phase",
    header: "phase",
    width: "8rem",
    cell: (row) => <Badge word={row.phase} tone={taskTone(row.phase)} />,
  },
  { id: "attempt", header: "attempt", width: "5rem", align: "right", cell: (row) => row.attempt },
  {
    id: "job",
    header: "job",
    width: "6rem",
    cell: (row) => (row.job_id === null ? "-" : <JobLink id={row.job_id} />),
  },
  {
    id: "exit",
    header: "exit code",
    width: "6rem",
    align: "right",
    cell: (row) => row.exit_code ?? "-",
  },
  {
    id: "why",
    header: "why",
    width: "minmax(10rem,2fr)",
    cell: (row) => [row.category, row.reason].flatMap((word) => (word ? spell(word) : [])).join(", "),
  },
];

function TriedAgain({ rows }: { rows: Schemas["PastAttempt"][] }) {
  if (rows.length === 0) return null;
  const cells: Cell<Schemas["PastAttempt"]>[] = [
    { header: "task", cell: (row) => row.task },
    { header: "attempt", align: "right", cell: (row) => row.attempt },
    { header: "job", cell: (row) => <JobLink id={row.job_id} /> },
    { header: "why it ended", cell: (row) => spell(row.category) },
    { header: "node", cell: (row) => row.node ?? "-" },
    { header: "ended", align: "right", cell: (row) => <Age ms={row.ended_ms} /> },
  ];
  return (
    <Panel title="Tried again" flush>
      <DataTable
        label="Tried again"
        cells={cells}
        rows={rows}
        rowId={(row) => `${row.task} ${row.attempt}`}
      />
    </Panel>
  );
}

export function StageBar({ tasks }: { tasks: Task[] }) {
  return (
    <span aria-hidden className="mt-1 flex h-1.5 overflow-hidden rounded-full bg-raised">
      {phaseCounts(tasks).map(([phase, many]) => (
        <span
          key={phase}
          className={FILL[taskTone(phase)]}
          style={{ width: `${(many / tasks.length) * 100}%` }}
        />
      ))}
    </span>
  );
}
