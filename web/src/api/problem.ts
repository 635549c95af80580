// The one envelope in which the server tells what did not go as asked, as an error to throw.
import type { components } from "./schema";

type Envelope = components["schemas"]["Problem"];
export type ProblemCode = Envelope["code"] | "unreachable" | "unreadable";

export class Problem extends Error {
  constructor(
    readonly code: ProblemCode,
    message: string,
    readonly correlationId: string | null,
    readonly retryable: boolean,
    readonly details: Envelope["details"] = {},
    readonly decision: Envelope["decision"] = null,
  ) {
    super(message);
    this.name = "Problem";
  }

  /** Whether the session is over, so that only a login helps. */
  get isLoggedOut(): boolean {
    return this.code === "unauthenticated";
  }
}

/** Whether what was asked for is not there, or not any more. */
export function isGone(error: unknown): boolean {
  return error instanceof Problem && error.code === "not_found";
}

/** What a response that is no success says; a body that is not ours (a proxy's page) is told as such. */
export function problemOf(body: unknown, response: Response): Problem {
  const correlation = response.headers.get("x-correlation-id");
  if (isEnvelope(body)) {
    return new Problem(
      body.code,
      body.message,
      body.correlation_id,
      body.retryable,
      body.details,
      body.decision ?? null,
    );
  }
  const told = `the answer was ${response.status}, and not in words that this page knows`;
  return new Problem("unreadable", told, correlation, response.status >= 500);
}

export function unreachable(): Problem {
  const told = "the server cannot be reached; this page tries again by itself";
  return new Problem("unreachable", told, null, true);
}

function isEnvelope(body: unknown): body is Envelope {
  return (
    typeof body === "object" &&
    body !== null &&
    typeof (body as Envelope).code === "string" &&
    typeof (body as Envelope).message === "string" &&
    typeof (body as Envelope).correlation_id === "string"
  );
}
