// An array of tasks as a grid: a cell for each element, coloured by its phase. Arrow keys go from cell
// to cell; Enter opens the element's job.
import { useNavigate } from "@tanstack/react-router";
import { useRef, useState, type KeyboardEvent } from "react";
import type { Schemas } from "@/api/client";
import { spell } from "@/words/amounts";
import { FILL, phaseCounts, taskTone } from "./phases";

type Task = Schemas["GraphTask"];

const DRAWN_MAX = 5_000;

/** The place after a key, in a grid so many wide; the same if there is none. */
export function stepOf(key: string, at: number, size: { columns: number; cells: number }): number {
  const step: Record<string, number> = {
    ArrowRight: 1,
    ArrowLeft: -1,
    ArrowDown: size.columns,
    ArrowUp: -size.columns,
  };
  if (key === "Home") return 0;
  if (key === "End") return size.cells - 1;
  const next = at + (step[key] ?? 0);
  return next >= 0 && next < size.cells ? next : at;
}

export function ArrayGrid({ name, tasks }: { name: string; tasks: Task[] }) {
  const navigate = useNavigate();
  const box = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState(0);
  const shown = tasks.slice(0, DRAWN_MAX);
  const current = shown[at];
  function open(task: Task | undefined) {
    if (task?.job_id != null) {
      void navigate({ to: "/jobs/$id", params: { id: String(task.job_id) } });
    }
  }
  function press(event: KeyboardEvent) {
    const cells = [...(box.current?.children ?? [])] as HTMLElement[];
    const top = cells[0]?.offsetTop;
    const columns = Math.max(1, cells.filter((cell) => cell.offsetTop === top).length);
    const next = stepOf(event.key, at, { columns, cells: cells.length });
    if (next === at) return;
    event.preventDefault();
    setAt(next);
    cells[next]?.focus();
  }
  return (
    <div className="space-y-2">
      <div
        ref={box}
        role="group"
        aria-label={`Elements of ${name}; arrow keys go from one to the next`}
        className="flex flex-wrap gap-1"
        onKeyDown={press}
      >
        {shown.map((task, index) => (
          <button
            key={task.name}
            type="button"
            tabIndex={index === at ? 0 : -1}
            title={`${task.name}: ${spell(task.phase)}`}
            aria-label={`${task.name}: ${spell(task.phase)}`}
            className={`size-5 rounded-sm ${FILL[taskTone(task.phase)]} hover:opacity-80`}
            onFocus={() => setAt(index)}
            onClick={() => open(task)}
          />
        ))}
      </div>
      <p className="flex flex-wrap gap-x-4 gap-y-1 text-xs text-muted">
        {phaseCounts(tasks).map(([phase, many]) => (
          <span key={phase} className="inline-flex items-center gap-1.5">
            <span aria-hidden className={`size-2.5 rounded-sm ${FILL[taskTone(phase)]}`} />
            {many} {spell(phase)}
          </span>
        ))}
        {tasks.length > DRAWN_MAX && <span>the first {DRAWN_MAX} are drawn</span>}
      </p>
      {current !== undefined && (
        <p className="text-sm">
          <b>{current.name}</b>: {spell(current.phase)}
          {current.job_id !== null && `, job ${current.job_id}`}
          {current.reason !== null && `, ${spell(current.reason)}`}
        </p>
      )}
    </div>
  );
}
