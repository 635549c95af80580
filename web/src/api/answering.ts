// A long question that is answered bit by bit: asked once, and ended by hanging up.
import { csrfHeaders } from "./csrf";
import { drain } from "./live";
import { problemOf, unreachable } from "./problem";
import { readEvents, type ServerEvent } from "./sse";

interface AnswerTerms {
  address: string;
  body: unknown;
  signal: AbortSignal;
  onEvent: (event: ServerEvent) => void;
  fetcher?: typeof fetch;
}

/** Hears every event of the answer; anything but an answer is thrown as a Problem. */
export async function hearAnswer(terms: AnswerTerms): Promise<void> {
  const { address, body, signal, onEvent, fetcher = fetch } = terms;
  try {
    const response = await fetcher(address, {
      method: "POST",
      credentials: "same-origin",
      headers: { "Content-Type": "application/json", ...csrfHeaders("POST") },
      body: JSON.stringify(body),
      signal,
    });
    if (!response.ok || response.body === null) {
      throw problemOf(await response.json().catch(() => null), response);
    }
    await drain(
      response.body,
      readEvents((event) => {
        if (event.data !== "") onEvent(event);
      }),
    );
  } catch (error) {
    if (signal.aborted) return;
    throw error instanceof TypeError ? unreachable() : error;
  }
}
