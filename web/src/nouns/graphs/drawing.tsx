// The drawing of a graph: a box for each stage, placed by elk. Loaded only when a graph is looked at.
// The table beside it says the same, for who cannot see it.
import {
  Background,
  Controls,
  Handle,
  Position,
  ReactFlow,
  type Edge,
  type Node,
  type NodeProps,
} from "@xyflow/react";
import "@xyflow/react/dist/style.css";
import ELK from "elkjs/lib/elk.bundled.js";
import { useEffect, useMemo, useState, useSyncExternalStore } from "react";
import type { Schemas } from "@/api/client";
import { Badge } from "@/parts/badge";
import { Skeleton } from "@/parts/states";
import { countsSentence, phaseCounts, taskTone } from "./phases";
import { StageBar } from "./page";

type Detail = Schemas["GraphDetail"];
type Places = Record<string, { x: number; y: number }>;
type StageNode = Node<
  { tasks: Schemas["GraphTask"][]; isChosen: boolean; isNarrow: boolean },
  "stage"
>;

const WIDTH = 190;
const HEIGHT = 68;
const elk = new ELK();
const NARROW = window.matchMedia("(max-width: 640px)");
const NODE_TYPES = { stage: StageBox };

interface Terms {
  detail: Detail;
  chosen: string | null;
  choose: (stage: string | null) => void;
}

/** Whether the screen is narrow now: people turn it, and draw windows wider. */
function useIsNarrow(): boolean {
  return useSyncExternalStore(
    (tell) => {
      NARROW.addEventListener("change", tell);
      return () => NARROW.removeEventListener("change", tell);
    },
    () => NARROW.matches,
  );
}

/** Where each stage stands; computed anew only if the stages are others, or the screen another.
 *
 * Downwards on a narrow screen, where it would be too small to read from left to right.
 */
function usePlaces(stages: Detail["stages"], isNarrow: boolean): Places | null {
  const key = JSON.stringify(stages.map(({ name, after }) => [name, after]));
  const [found, setFound] = useState<{ isNarrow: boolean; places: Places } | null>(null);
  useEffect(() => {
    let isOld = false;
    const rows = JSON.parse(key) as [string, string[]][];
    void elk
      .layout({
        id: "graph",
        layoutOptions: {
          "elk.algorithm": "layered",
          "elk.direction": isNarrow ? "DOWN" : "RIGHT",
          "elk.spacing.nodeNode": "28",
          "elk.layered.spacing.nodeNodeBetweenLayers": "56",
        },
        children: rows.map(([name]) => ({ id: name, width: WIDTH, height: HEIGHT })),
        edges: rows.flatMap(([name, after]) =>
          after.map((from) => ({ id: `${from} ${name}`, sources: [from], targets: [name] })),
        ),
      })
      .then((laid) => {
        if (isOld) return;
        const spots = (laid.children ?? []).map(({ id, x = 0, y = 0 }) => [id, { x, y }]);
        setFound({ isNarrow, places: Object.fromEntries(spots) as Places });
      });
    return () => {
      isOld = true;
    };
  }, [key, isNarrow]);
  return found?.isNarrow === isNarrow ? found.places : null;
}

export default function Drawing({ detail, chosen, choose }: Terms) {
  const isNarrow = useIsNarrow();
  const places = usePlaces(detail.stages, isNarrow);
  const nodes = useMemo<StageNode[]>(
    () =>
      detail.stages.map((stage) => ({
        id: stage.name,
        type: "stage",
        position: places?.[stage.name] ?? { x: 0, y: 0 },
        data: {
          tasks: detail.tasks.filter((task) => task.stage === stage.name),
          isChosen: stage.name === chosen,
          isNarrow,
        },
        width: WIDTH,
        height: HEIGHT,
        ariaLabel: `stage ${stage.name}`,
      })),
    [detail, places, chosen, isNarrow],
  );
  const edges = useMemo<Edge[]>(
    () =>
      detail.stages.flatMap((stage) =>
        stage.after.map((from) => ({
          id: `${from} ${stage.name}`,
          source: from,
          target: stage.name,
          focusable: false,
        })),
      ),
    [detail.stages],
  );
  if (places === null) return <Skeleton lines={6} />;
  return (
    <div className="graph h-[22rem]">
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        nodesDraggable={false}
        nodesConnectable={false}
        zoomOnScroll={false}
        preventScrolling={false}
        fitView
        fitViewOptions={{ maxZoom: 1, padding: 0.1 }}
        minZoom={0.1}
        proOptions={{ hideAttribution: true }}
        aria-label="Which stage waits for which"
        onNodeClick={(_, node) => choose(node.id === chosen ? null : node.id)}
        onSelectionChange={({ nodes: found }) => found[0] && choose(found[0].id)}
      >
        <Background />
        <Controls showInteractive={false} />
      </ReactFlow>
    </div>
  );
}

function StageBox({ id, data }: NodeProps<StageNode>) {
  const counts = phaseCounts(data.tasks);
  const one = data.tasks.length === 1 ? data.tasks[0] : undefined;
  return (
    <div
      className={`panel h-full px-3 py-2 ${data.isChosen ? "border-accent" : ""}`}
      title={countsSentence(counts)}
    >
      <Handle type="target" position={data.isNarrow ? Position.Top : Position.Left} isConnectable={false} />
      <div className="flex items-center justify-between gap-2">
        <span className="truncate font-medium">{id}</span>
        {one === undefined ? (
          <span className="text-xs whitespace-nowrap text-muted">× {data.tasks.length}</span>
        ) : (
          <Badge word={one.phase} tone={taskTone(one.phase)} />
        )}
      </div>
      <StageBar tasks={data.tasks} />
      {one === undefined && (
        <p className="mt-1 truncate text-xs text-muted">{countsSentence(counts)}</p>
      )}
      <Handle type="source" position={data.isNarrow ? Position.Bottom : Position.Right} isConnectable={false} />
    </div>
  );
}
