// What would become of a waiting request with more quota, new nodes, another generation: each move of
// a slider asks the server, which tries it on a copy of its state.
import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useEffect, useState } from "react";
import { api, ask, type Schemas } from "@/api/client";
import { useNow } from "@/parts/age";
import { Badge } from "@/parts/badge";
import { Labelled, Select } from "@/parts/labelled";
import { Panel } from "@/parts/panel";
import { Failed, Skeleton } from "@/parts/states";
import { assertNever } from "@/words/assert-never";
import { amount, generation, milli, size, spell } from "@/words/amounts";
import { quotaSlider, supposedOf, type Sliders } from "./supposed";
import { Denial, Waiting } from "./why";

type Entry = Schemas["QueueEntry"];

const PAUSE_MS = 300;

export function WhatIf({ entry }: { entry: Entry }) {
  const quota = quotaSlider(entry);
  const [sliders, setSliders] = useState<Sliders>({ quota: 0, nodes: 0, generation: "" });
  const body = supposedOf(sliders, quota);
  const key = useDeferredValue(useSettled(JSON.stringify(body)));
  const isMoved = key !== "{}";
  const found = useQuery({
    queryKey: ["queue", entry.entry_id, "whatif", key],
    enabled: isMoved,
    retry: false,
    staleTime: 5_000,
    placeholderData: (before: Schemas["WhatIf"] | undefined) => before,
    queryFn: () =>
      ask(
        api.POST("/v1/queue/{entry_id}/whatif", {
          params: { path: { entry_id: entry.entry_id } },
          body: JSON.parse(key) as Schemas["Supposed"],
        }),
      ),
  });
  const set = (change: Partial<Sliders>) => setSliders({ ...sliders, ...change });
  const more = sliders.quota === 0 ? "none" : amount(quota.unit, sliders.quota * quota.step);
  const hasGpus = (entry.request?.gpu_count ?? 0) > 0;
  return (
    <Panel title="What if" aside={found.isFetching ? "trying" : "tried on a copy; nothing changes"}>
      <div className="grid gap-6 md:grid-cols-2">
        <div className="space-y-3">
          <Slider
            label={`More quota: ${more}`}
            value={sliders.quota}
            most={quota.most}
            set={(steps) => set({ quota: steps })}
          />
          <Slider
            label={`New nodes: ${sliders.nodes === 0 ? "none" : sliders.nodes}`}
            value={sliders.nodes}
            most={16}
            set={(nodes) => set({ nodes })}
          />
          {hasGpus && (
            <Select
              label="GPU generation"
              value={sliders.generation}
              set={(word) => set({ generation: word })}
              options={[
                ["", `as asked: ${generation(entry.request?.gpu_generation)}`],
                ...GENERATIONS.map((word) => [word, generation(word)] as const),
              ]}
              hint="Another one is another request: it stands where a new one would."
            />
          )}
        </div>
        <div role="status" className="space-y-2">
          {!isMoved && (
            <p className="text-muted">Move a slider, and what would become of it stands here.</p>
          )}
          {isMoved && found.isPending && <Skeleton lines={2} />}
          {isMoved && found.isError && <Failed error={found.error} />}
          {isMoved && found.data !== undefined && !found.isError && <Result found={found.data} />}
        </div>
      </div>
    </Panel>
  );
}

const GENERATIONS = [
  "nvidia_volta",
  "nvidia_turing",
  "nvidia_ampere",
  "nvidia_ada",
  "nvidia_hopper",
  "nvidia_blackwell",
  "amd_mi200",
  "amd_mi300",
] as const;

function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

function Slider(terms: {
  label: string;
  value: number;
  most: number;
  set: (value: number) => void;
}) {
  return (
    <Labelled label={terms.label}>
      {(ids) => (
        <input
          {...ids}
          type="range"
          className="w-full accent-accent"
          min={0}
          max={terms.most}
          step={1}
          value={terms.value}
          onChange={(event) => terms.set(Number(event.target.value))}
        />
      )}
    </Labelled>
  );
}

function Result({ found }: { found: Schemas["WhatIf"] }) {
  const now = useNow();
  return (
    <>
      <Outcome result={found.result} now={now} />
      {(found.supposed.nodes ?? 0) > 0 && <NewNodes kind={found.new_node} />}
    </>
  );
}

function Outcome({ result, now }: { result: Schemas["WhatIf"]["result"]; now: number }) {
  switch (result.outcome) {
    case "starts":
      return (
        <p className="flex flex-wrap items-center gap-2">
          <Badge word="starts" tone="good" />
          <span className="font-medium">
            It would start at once
            {result.on_new_nodes > 0 && `, ${result.on_new_nodes} of ${result.members} on new nodes`}.
          </span>
        </p>
      );
    case "waits":
      return (
        <>
          <p className="font-medium">It would still wait:</p>
          <Waiting entry={result.entry} now={now} />
        </>
      );
    case "refused":
      return (
        <>
          <p className="font-medium">As another request it would be refused:</p>
          <Denial denied={result.denied} />
        </>
      );
    case "ends":
      return <p className="font-medium">It would leave the queue: {spell(result.cause)}.</p>;
    default:
      return assertNever(result);
  }
}

function NewNodes({ kind }: { kind: Schemas["NewNodeKind"] | null }) {
  if (kind === null) {
    return (
      <p className="text-muted">No machine of the fleet could hold it, so no node was added.</p>
    );
  }
  const gpu = kind.gpus[0];
  return (
    <p className="text-muted">
      Each new node:{" "}
      {gpu !== undefined && `${kind.gpus.length} x ${gpu.model || generation(gpu.generation)}, `}
      {milli(kind.resources.cpu_milli ?? 0)} cores, {size(kind.resources.mem_bytes ?? 0)}.
    </p>
  );
}
