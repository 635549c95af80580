// What a job printed, as it prints it: the server is asked from where we are, and waits for more.
import { useEffect, useRef, useState } from "react";
import { api, ask } from "@/api/client";
import { Failed } from "@/parts/states";

const KEPT_CHARS = 400_000;
const WAIT_S = 15;

interface Output {
  text: string;
  isOver: boolean;
  isCut: boolean;
  error: unknown;
}

export function useOutput(jobId: number, member: number): Output {
  const [output, setOutput] = useState<Output>({
    text: "",
    isOver: false,
    isCut: false,
    error: null,
  });
  useEffect(() => {
    const stop = new AbortController();
    setOutput({ text: "", isOver: false, isCut: false, error: null });
    void follow(jobId, member, stop.signal, setOutput);
    return () => stop.abort();
  }, [jobId, member]);
  return output;
}

type Change = (change: (before: Output) => Output) => void;

async function follow(jobId: number, member: number, signal: AbortSignal, change: Change) {
  // One for the whole output: a letter of several bytes may lie on the seam of two answers.
  const decoder = new TextDecoder();
  let offset = 0;
  let isOver = false;
  while (!signal.aborted && !isOver) {
    try {
      const params = { path: { job_id: jobId }, query: { offset, member, wait_s: WAIT_S } };
      const part = await ask(api.GET("/v1/jobs/{job_id}/output", { params, signal }));
      offset = part.next_offset;
      isOver = part.is_over;
      const text = decoder.decode(bytesOf(part.data), { stream: !isOver });
      change((before) => append(before, text, part));
    } catch (error) {
      if (signal.aborted) return;
      change((before) => ({ ...before, error }));
      await new Promise((resolve) => setTimeout(resolve, 3_000));
    }
  }
}

/** Output is bytes, told in Base64. */
function bytesOf(data: string): Uint8Array {
  return Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
}

function append(
  before: Output,
  more: string,
  part: { is_over: boolean; is_truncated: boolean },
): Output {
  const text = before.text + more;
  return {
    text: text.slice(-KEPT_CHARS),
    isOver: part.is_over,
    isCut: before.isCut || part.is_truncated || text.length > KEPT_CHARS,
    error: null,
  };
}

export function Logs({ jobId, member }: { jobId: number; member: number }) {
  const output = useOutput(jobId, member);
  const box = useRef<HTMLPreElement>(null);
  const [follows, setFollows] = useState(true);
  useEffect(() => {
    if (follows && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [output.text, follows]);
  return (
    <div>
      {output.error !== null && <Failed error={output.error} />}
      {output.isCut && <p className="px-4 py-1 text-xs text-muted">The beginning is left out.</p>}
      <pre
        ref={box}
        tabIndex={0}
        aria-label="What the job printed"
        onScroll={(event) => {
          const it = event.currentTarget;
          setFollows(it.scrollHeight - it.scrollTop - it.clientHeight < 24);
        }}
        className="max-h-[60dvh] min-h-24 overflow-auto px-4 py-3 font-mono text-xs leading-5 whitespace-pre-wrap"
      >
        {output.text || (
          <span className="text-muted">
            {output.isOver ? "It printed nothing." : "Nothing yet."}
          </span>
        )}
      </pre>
      <p className="border-t border-line px-4 py-1.5 text-xs text-muted" role="status">
        {output.isOver ? "This is all." : follows ? "Following." : "Scroll to the end to follow."}
      </p>
    </div>
  );
}
