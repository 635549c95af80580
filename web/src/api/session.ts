// Logging in and out. The session itself is a cookie that no script can read; what a script holds is
// the CSRF token, in memory.
import { api, ask, type Schemas } from "./client";
import { holdCsrf } from "./csrf";
import { Problem } from "./problem";

export type Session = Schemas["BrowserSession"];

const SESSION_S = 3_600;
/** A session goes on while its page is open, up to the server's own bound. */
const RENEW_BEFORE_MS = 10 * 60_000;

function hold(session: Session): Session {
  holdCsrf(session.csrf);
  return session;
}

/** The session of this browser's cookie, or none. */
export async function readSession(): Promise<Session | null> {
  try {
    return hold(await ask(api.GET("/v1/session")));
  } catch (problem) {
    if (problem instanceof Problem && problem.isLoggedOut) return null;
    throw problem;
  }
}

export async function logIn(code: string): Promise<Session> {
  return hold(await ask(api.POST("/v1/session", { body: { code, ttl_s: SESSION_S } })));
}

export async function logOut(): Promise<void> {
  await ask(api.DELETE("/v1/session"));
  holdCsrf(null);
}

/** Whether it is time to renew, and whether that would help. */
export function isDue(session: Session, nowMs: number): boolean {
  return session.expires_ms - nowMs < RENEW_BEFORE_MS && session.ends_ms > session.expires_ms;
}

export async function renewSession(): Promise<Session> {
  return hold(await ask(api.POST("/v1/session/renewal", { body: { ttl_s: SESSION_S } })));
}

export function readLoginWays(): Promise<Schemas["LoginWays"]> {
  return ask(api.GET("/v1/login"));
}

export function readSelf(): Promise<Schemas["Self"]> {
  return ask(api.GET("/v1/whoami"));
}
