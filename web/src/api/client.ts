// The one client of the API: same origin, the session's cookie, the CSRF token on changes, and every
// failure as one kind of error.
import createClient from "openapi-fetch";
import { csrfHeaders } from "./csrf";
import { Problem, problemOf, unreachable } from "./problem";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];

export const api = createClient<paths>({
  baseUrl: window.location.origin,
  credentials: "same-origin",
});

api.use({
  onRequest({ request }) {
    for (const [name, value] of Object.entries(csrfHeaders(request.method))) {
      request.headers.set(name, value);
    }
    return request;
  },
  onError({ error }) {
    return error instanceof DOMException && error.name === "AbortError" ? error : unreachable();
  },
});

/** What a call answered; anything but a success is thrown as a Problem. */
export async function ask<T>(
  call: Promise<{ data?: T; error?: unknown; response: Response }>,
): Promise<T> {
  const { data, error, response } = await call;
  if (!response.ok) throw problemOf(error, response);
  return data as T;
}

/** What a thing answered that may not be there. */
export async function askMaybe<T>(
  call: Promise<{ data?: T; error?: unknown; response: Response }>,
): Promise<T | null> {
  try {
    return await ask(call);
  } catch (problem) {
    if (problem instanceof Problem && problem.code === "not_found") return null;
    throw problem;
  }
}

/** One page of a list, as every list of the API answers. */
export interface Page<T> {
  items: T[];
  next?: string | null;
}
