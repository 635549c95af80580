// A job file, pasted or chosen: the server reads it by the words of the command line, and the form is
// filled in. What is wrong is told with its line.
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask, type Schemas } from "@/api/client";
import { Labelled } from "@/parts/labelled";
import { Failed } from "@/parts/states";

interface FileTerms {
  tenant: string;
  project: string;
  use: (job: Schemas["NewJob"]) => void;
}

const CHARS_MAX = 16_384;

export function JobFile({ tenant, project, use }: FileTerms) {
  const [text, setText] = useState("");
  const read = useMutation({
    mutationFn: () => {
      const place = project === "" ? { tenant } : { tenant, project };
      return ask(api.POST("/v1/jobs/file", { body: { ...place, text } }));
    },
    onSuccess: (found) => {
      if (found.job !== null) use(found.job);
    },
  });
  const mistakes = read.data?.mistakes ?? [];
  return (
    <details className="col-span-2 rounded-md border border-line px-3 py-2">
      <summary className="cursor-pointer font-medium">From a job file</summary>
      <div className="mt-2 space-y-2">
        <Labelled label="Job file" hint="YAML, with the words of bailiwick submit -f.">
          {(ids) => (
            <textarea
              {...ids}
              className="field h-40 font-mono"
              spellCheck={false}
              maxLength={CHARS_MAX}
              value={text}
              placeholder={"command: python train.py\ngpus: 2\nmem: 64GiB"}
              onChange={(event) => setText(event.target.value)}
            />
          )}
        </Labelled>
        <div className="flex flex-wrap items-center gap-2">
          <input
            type="file"
            aria-label="Choose a job file"
            accept=".yaml,.yml,.json,text/*"
            className="min-w-0 flex-1 text-sm"
            onChange={(event) => {
              const file = event.target.files?.[0];
              if (file !== undefined) void file.slice(0, CHARS_MAX).text().then(setText);
            }}
          />
          <button
            type="button"
            className="button"
            disabled={text.trim() === "" || tenant === "" || read.isPending}
            onClick={() => read.mutate()}
          >
            Read it
          </button>
        </div>
        <div role="status">
          {read.isSuccess && read.data.job !== null && (
            <p className="text-muted">The form says what the file says.</p>
          )}
        </div>
        {read.isError && <Failed error={read.error} />}
        {mistakes.length > 0 && (
          <ul role="alert" className="space-y-1 text-sm text-bad" aria-label="Mistakes in the file">
            {mistakes.map((each) => (
              <li key={`${each.line}:${each.column}:${each.message}`}>
                line {each.line}, column {each.column}: {each.message}
              </li>
            ))}
          </ul>
        )}
      </div>
    </details>
  );
}
