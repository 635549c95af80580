// The heat map with its meaning: which colour a GPU has, by tenant, class or state, and the legend.
import type { UseQueryResult } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { useShownTheme } from "@/app/theme";
import { HeatMap } from "@/charts/heat-map";
import { cellsOf, type Picture } from "@/nouns/nodes/picture";
import { Panel } from "@/parts/panel";
import { Empty, Loaded } from "@/parts/states";
import { count } from "@/words/amounts";
import { paintOf, stripsOf, toldOf, type By } from "./fleet-colours";

const CHOICES: By[] = ["tenant", "class", "state"];

export function FleetMap({ picture }: { picture: UseQueryResult<Picture> }) {
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
      <Loaded query={picture} lines={5}>
        {(found) => <Drawn picture={found} by={by} />}
      </Loaded>
    </Panel>
  );
}

function Drawn({ picture, by }: { picture: Picture; by: By }) {
  const navigate = useNavigate();
  const theme = useShownTheme();
  const cells = useMemo(() => cellsOf(picture), [picture]);
  const strips = useMemo(() => stripsOf(picture, cells), [picture, cells]);
  const { paint, legend } = useMemo(
    () => paintOf(picture, cells, by, theme),
    [picture, cells, by, theme],
  );
  if (strips.length === 0) return <Empty title="No node has a GPU" />;
  const label = `${count(strips.length)} nodes with GPUs, coloured by ${by}. The same as a list: the page Nodes.`;
  return (
    <>
      <HeatMap
        strips={strips}
        paint={paint}
        label={label}
        told={(strip, cell) => {
          const place = cells.placed[strip];
          if (place === undefined) return "";
          return toldOf(picture, place, cell, cells.holder[place.first + cell] ?? -1);
        }}
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
    </>
  );
}
