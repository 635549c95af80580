// What its queue says. The instance's operator is asked when somebody wants to know, never by the page
// itself: every question is a record.
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { Schemas } from "@/api/client";
import { Age } from "@/parts/age";
import { CommandLine } from "@/parts/copy";
import { TextField } from "@/parts/labelled";
import { Failed, Skeleton } from "@/parts/states";
import { argvOf, questionsOf, replyOf } from "./questions";

interface AskingTerms {
  /** The scheduler behind it. */
  backend: string;
  /** Sends a question; the same key goes on waiting for the same answer. */
  send: (argv: string[], key: string) => Promise<Schemas["CallDone"]>;
  /** What one would type for the same. */
  command: (words: string) => string;
}

export function Asking({ backend, send, command }: AskingTerms) {
  const offered = questionsOf(backend);
  const [typed, setTyped] = useState(offered[0]?.words ?? "");
  const asked = useMutation({
    mutationFn: async (words: string) => {
      const argv = argvOf(words) ?? [];
      const key = crypto.randomUUID();
      const reply = await replyOf(() => send(argv, key));
      return { words, reply, atMs: Date.now() };
    },
  });
  function ask(words: string) {
    setTyped(words);
    asked.mutate(words);
  }
  return (
    <div className="space-y-3">
      {offered.length > 0 && (
        <div className="flex flex-wrap gap-2">
          {offered.map((each) => (
            <button
              key={each.words}
              type="button"
              className="button"
              disabled={asked.isPending}
              onClick={() => ask(each.words)}
            >
              {each.label}
            </button>
          ))}
        </div>
      )}
      <form
        className="flex flex-wrap items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          if (argvOf(typed) !== null && !asked.isPending) ask(typed);
        }}
      >
        <TextField
          label="Question"
          value={typed}
          set={setTyped}
          placeholder="in the app's own words"
          className="min-w-0 flex-1 basis-60"
        />
        <button
          type="submit"
          className="button"
          disabled={argvOf(typed) === null || asked.isPending}
        >
          Ask
        </button>
      </form>
      <div role="status">{asked.isPending && <Skeleton lines={2} />}</div>
      {asked.isError && <Failed error={asked.error} />}
      {asked.isSuccess && <Answer {...asked.data} />}
      {argvOf(typed) !== null && <CommandLine command={command(typed.trim())} />}
    </div>
  );
}

interface AnswerTerms {
  words: string;
  reply: Schemas["CallReply"];
  atMs: number;
}

function Answer({ words, reply, atMs }: AnswerTerms) {
  const text = [reply.stdout, reply.stderr].filter((each) => each !== "").join("\n");
  return (
    <div>
      <p className="mb-1 text-xs text-muted">
        <code className="font-mono">{words}</code>, <Age ms={atMs} />
        {reply.exit_code !== 0 && `, ended with ${reply.exit_code}`}
        {reply.is_truncated && ", cut off where it got too long"}
      </p>
      <pre
        tabIndex={0}
        aria-label="Answer"
        className="max-h-96 overflow-auto rounded-md bg-raised p-3 font-mono text-xs"
      >
        {text.trimEnd() || "nothing"}
      </pre>
    </div>
  );
}
