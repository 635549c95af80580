// The login: a one-time code, filled in from the address that the server printed, or a provider.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { LogIn } from "lucide-react";
import { useState } from "react";
import { logIn, readLoginWays } from "@/api/session";
import { Failed } from "@/parts/states";
import { forgetCode, printedCode } from "./code";
import { Mark } from "./mark";

export function LoginPage() {
  const [code, setCode] = useState(printedCode);
  const client = useQueryClient();
  const navigate = useNavigate();
  const ways = useQuery({ queryKey: ["login"], queryFn: readLoginWays, staleTime: Infinity });
  const login = useMutation({
    mutationFn: () => logIn(code.trim()),
    onSuccess: async (session) => {
      forgetCode();
      client.clear();
      client.setQueryData(["session"], session);
      await navigate({ to: "/" });
    },
  });
  return (
    <main className="mx-auto flex min-h-dvh max-w-sm flex-col justify-center px-4 py-10">
      <div className="mb-6 flex items-center gap-3">
        <Mark size={36} />
        <div>
          <h1 className="text-xl font-semibold tracking-tight">Bailiwick</h1>
          <p className="text-muted">Many teams, one GPU fleet</p>
        </div>
      </div>
      <form
        className="panel space-y-3 p-5"
        onSubmit={(event) => {
          event.preventDefault();
          login.mutate();
        }}
      >
        <label className="block space-y-1">
          <span className="font-medium">One-time login code</span>
          <input
            className="field font-mono"
            value={code}
            onChange={(event) => setCode(event.target.value)}
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            autoFocus
            required
          />
        </label>
        <p className="text-sm text-muted">
          The server prints one when it starts; an administrator makes more with{" "}
          <code className="font-mono text-xs">bailiwick token issue NAME --login-code</code>.
        </p>
        <button
          type="submit"
          className="button button-main w-full justify-center"
          disabled={login.isPending}
        >
          <LogIn size={16} aria-hidden /> {login.isPending ? "Logging in" : "Log in"}
        </button>
        {login.isError && <Failed error={login.error} />}
      </form>
      {ways.data !== undefined && ways.data.providers.length > 0 && (
        <div className="mt-4 space-y-2">
          {ways.data.providers.map((each) => (
            <a
              key={each.provider}
              className="button w-full justify-center"
              href={`/v1/login/${encodeURIComponent(each.provider)}`}
            >
              Log in with {each.title}
            </a>
          ))}
        </div>
      )}
    </main>
  );
}
