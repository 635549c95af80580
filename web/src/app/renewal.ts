// Keeps the session going while its page is open; when it ends all the same, the login is shown.
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { Problem } from "@/api/problem";
import { isDue, renewSession, type Session } from "@/api/session";

const LOOK_EVERY_MS = 60_000;

export function useRenewal(): void {
  const client = useQueryClient();
  const navigate = useNavigate();
  useEffect(() => {
    const timer = setInterval(() => {
      const session = client.getQueryData<Session | null>(["session"]);
      if (!session || !isDue(session, Date.now())) return;
      void renewSession().then(
        (next) => client.setQueryData(["session"], next),
        () => undefined,
      );
    }, LOOK_EVERY_MS);
    const unsubscribe = client.getQueryCache().subscribe(({ query }) => {
      const error = query.state.error;
      if (!(error instanceof Problem) || !error.isLoggedOut) return;
      client.setQueryData(["session"], null);
      void navigate({ to: "/login" });
    });
    return () => {
      clearInterval(timer);
      unsubscribe();
    };
  }, [client, navigate]);
}
