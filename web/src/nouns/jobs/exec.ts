// A program inside a job, tied to a page: what is typed goes by offsets, so that nothing is typed
// twice; what it writes is asked for from where one is.
import { api, ask } from "@/api/client";
import { overSentence, plain, toBase64 } from "./exec-words";

const WAIT_S = 15;
const CHUNK = 32_768;

export interface Heard {
  text: string;
  isError: boolean;
}

export interface ExecTerms {
  jobId: number;
  member: number;
  command: string[];
  onHeard: (heard: Heard) => void;
  onOpen: () => void;
  /** Why it is over, in words. */
  onOver: (told: string) => void;
}

export interface OpenExec {
  type: (text: string) => void;
  end: () => void;
}

export function openExec(terms: ExecTerms): OpenExec {
  const stop = new AbortController();
  const typed: string[] = [];
  let wake: () => void = () => undefined;
  let path: { job_id: number; exec_id: string } | null = null;
  const end = () => {
    stop.abort();
    wake();
    if (path !== null) {
      const address = "/v1/jobs/{job_id}/execs/{exec_id}";
      void ask(api.DELETE(address, { params: { path } })).catch(() => undefined);
    }
  };
  async function run() {
    const body = { command: terms.command, member: terms.member };
    const params = { path: { job_id: terms.jobId } };
    const made = await ask(api.POST("/v1/jobs/{job_id}/execs", { params, body }));
    path = { job_id: terms.jobId, exec_id: made.exec_id };
    if (stop.signal.aborted) return end();
    terms.onOpen();
    void send(path);
    await listen(path);
  }
  async function listen(at: { job_id: number; exec_id: string }) {
    const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
    let offset = 0;
    while (!stop.signal.aborted) {
      const address = "/v1/jobs/{job_id}/execs/{exec_id}/output";
      const body = { offset, wait_s: WAIT_S };
      const out = await ask(
        api.POST(address, { params: { path: at }, body, signal: stop.signal }),
      );
      offset = out.next_offset;
      for (const piece of out.pieces) {
        const bytes = Uint8Array.from(atob(piece.data), (letter) => letter.charCodeAt(0));
        const text = plain(decoders[piece.stream].decode(bytes, { stream: true }));
        terms.onHeard({ text, isError: piece.stream === "stderr" });
      }
      if (out.end !== null) {
        path = null;
        stop.abort();
        wake();
        terms.onOver(out.note ? `${overSentence(out)}: ${out.note}` : overSentence(out));
      }
    }
  }
  async function send(at: { job_id: number; exec_id: string }) {
    let offset = 0;
    while (!stop.signal.aborted) {
      const text = typed.shift();
      if (text === undefined) {
        await new Promise<void>((resolve) => (wake = resolve));
        continue;
      }
      const address = "/v1/jobs/{job_id}/execs/{exec_id}/input";
      const body = { offset, data: toBase64(text) };
      const taken = await ask(api.PUT(address, { params: { path: at }, body }));
      const bytes = new TextEncoder().encode(text);
      const rest = bytes.slice(taken.next_offset - offset);
      offset = taken.next_offset;
      if (rest.length > 0) {
        typed.unshift(new TextDecoder().decode(rest));
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }
  run().catch((error: unknown) => {
    if (!stop.signal.aborted) terms.onOver(error instanceof Error ? error.message : String(error));
  });
  return {
    type: (text) => {
      for (let at = 0; at < text.length; at += CHUNK) typed.push(text.slice(at, at + CHUNK));
      wake();
    },
    end,
  };
}
