// The heat map with its meaning: which colour a GPU has, by tenant, class or state, and the legend.
import type { UseQueryResult } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import type { Schemas } from "@/api/client";
import { useShownTheme } from "@/app/theme";
import { HeatMap } from "@/charts/heat-map";
import { Panel } from "@/parts/panel";
import { Empty, Loaded } from "@/parts/states";
import { count } from "@/words/amounts";
import { legendOf, stripsOf, type By } from "./fleet-colours";

const CHOICES: By[] = ["tenant", "class", "state"];

interface Terms {
  nodes: UseQueryResult<Schemas["Node"][]>;
  leases: UseQueryResult<{ rows: Schemas["Lease"][]; isCut: boolean }>;
}

export function FleetMap({ nodes, leases }: Terms) {
  const [by, setBy] = useState<By>("tenant");
  return (
    <Panel
      title="GPUs, node by node"
      aside={
        <div role="radiogroup" aria-label="Colour by" className="flex items-center gap-1">
          colour by
          {CHOICES.map((each) => (
            <button
              key={each}
              type="button"
              role="radio"
              aria-checked={by === each}
              onClick={() => setBy(each)}
              className="rounded px-2 py-0.5 aria-checked:bg-accent-soft aria-checked:font-medium aria-checked:text-accent"
            >
              {each}
            </button>
          ))}
        </div>
      }
    >
      <Loaded query={nodes} lines={5}>
        {(found) => (
          <Drawn
            nodes={found}
            leases={leases.data?.rows ?? []}
            isCut={leases.data?.isCut ?? false}
            by={by}
          />
        )}
      </Loaded>
    </Panel>
  );
}

function Drawn({
  nodes,
  leases,
  isCut,
  by,
}: {
  nodes: Schemas["Node"][];
  leases: Schemas["Lease"][];
  isCut: boolean;
  by: By;
}) {
  const navigate = useNavigate();
  const theme = useShownTheme();
  const strips = useMemo(() => stripsOf(nodes, leases, by, theme), [nodes, leases, by, theme]);
  const legend = useMemo(() => legendOf(nodes, leases, by, theme), [nodes, leases, by, theme]);
  if (strips.length === 0) return <Empty title="No node has a GPU" />;
  const label = `${count(strips.length)} nodes with GPUs, coloured by ${by}. The same as a list: the page Nodes.`;
  return (
    <>
      <HeatMap
        strips={strips}
        label={label}
        onOpen={(id) => void navigate({ to: "/nodes/$id", params: { id } })}
      />
      <ul className="mt-3 flex flex-wrap gap-x-4 gap-y-1 text-xs">
        {legend.map((row) => (
          <li key={row.name} className="flex items-center gap-1.5">
            <span
              aria-hidden
              className="size-2.5 rounded-sm"
              style={{ background: row.colour ?? "var(--line)" }}
            />
            {row.name} <span className="text-muted">{count(row.many)}</span>
          </li>
        ))}
      </ul>
      {isCut && (
        <p className="mt-1 text-xs text-muted">
          Only the first leases are drawn; the list has all.
        </p>
      )}
    </>
  );
}
