// A shell inside a running job, line by line. What is run is sealed in the journal; what is typed never.
import { useEffect, useRef, useState } from "react";
import type { Schemas } from "@/api/client";
import { useMay } from "@/app/may";
import { CommandLine } from "@/parts/copy";
import { Panel } from "@/parts/panel";
import { openExec, type Heard, type OpenExec } from "./exec";
import { splitCommand } from "./wish";

type Job = Schemas["Job"];
type Line = Heard & { isMine?: boolean };

const KEPT_LINES = 2_000;

export function Shell({ job }: { job: Job }) {
  const may = useMay(job.tenant, job.project);
  if (!may("job.exec")) return null;
  return (
    <Panel title="Shell inside the job" flush>
      <Terminal job={job} />
    </Panel>
  );
}

function Terminal({ job }: { job: Job }) {
  const [program, setProgram] = useState("/bin/sh");
  const [lines, setLines] = useState<Line[]>([]);
  const [state, setState] = useState<"closed" | "opening" | "open">("closed");
  const [told, setTold] = useState("");
  const opened = useRef<OpenExec | null>(null);
  const box = useRef<HTMLPreElement>(null);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => () => opened.current?.end(), []);
  useEffect(() => {
    if (box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [lines]);
  useEffect(() => {
    if (state === "open") field.current?.focus();
  }, [state]);
  const add = (line: Line) => setLines((before) => [...before, line].slice(-KEPT_LINES));
  function open() {
    setLines([]);
    setTold("");
    setState("opening");
    opened.current = openExec({
      jobId: job.job_id,
      member: 0,
      command: splitCommand(program),
      onHeard: add,
      onOpen: () => setState("open"),
      onOver: (why) => {
        opened.current = null;
        setTold(why);
        setState("closed");
      },
    });
  }
  function close() {
    opened.current?.end();
    opened.current = null;
    setTold("you ended it");
    setState("closed");
  }
  return (
    <div>
      {state === "closed" && (
        <div className="flex flex-wrap items-center gap-2 px-4 py-3">
          <label className="flex items-center gap-2">
            <span className="text-muted">Program</span>
            <input
              className="field w-48 font-mono"
              spellCheck={false}
              value={program}
              onChange={(event) => setProgram(event.target.value)}
            />
          </label>
          <button
            type="button"
            className="button button-main"
            disabled={splitCommand(program).length === 0}
            onClick={open}
          >
            Open a shell
          </button>
          <span className="text-muted" role="status">
            {told}
          </span>
        </div>
      )}
      {(state !== "closed" || lines.length > 0) && (
        <pre
          ref={box}
          tabIndex={0}
          aria-label="What the shell wrote"
          aria-live="polite"
          className="max-h-80 min-h-40 overflow-auto border-t border-line bg-raised px-4 py-3 font-mono text-xs leading-5 whitespace-pre-wrap"
        >
          {lines.map((line, at) => (
            <span
              key={at}
              className={line.isMine ? "text-accent" : line.isError ? "text-bad" : undefined}
            >
              {line.text}
            </span>
          ))}
          {state === "opening" && "opening"}
        </pre>
      )}
      {state === "open" && (
        <form
          className="flex items-center gap-2 border-t border-line px-4 py-2"
          onSubmit={(event) => {
            event.preventDefault();
            const text = field.current?.value ?? "";
            if (field.current) field.current.value = "";
            add({ text: `$ ${text}\n`, isError: false, isMine: true });
            opened.current?.type(`${text}\n`);
          }}
        >
          <span aria-hidden className="font-mono text-muted">
            $
          </span>
          <input
            ref={field}
            aria-label="A line for the shell"
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            className="field flex-1 font-mono"
          />
          <button type="submit" className="button">
            Send
          </button>
          <button type="button" className="button button-bad" onClick={close}>
            End it
          </button>
        </form>
      )}
      <div className="border-t border-line px-4 py-2">
        <CommandLine command={`bailiwick exec -it job-${job.job_id} -- ${program || "/bin/sh"}`} />
      </div>
    </div>
  );
}
