// The login code in the address that the server printed: /#code=... A fragment is never
// sent to a server, and it is taken out of the address and of the history at once.

let taken: string | null = null;

/** Called before anything else looks at the address. */
export function hideCode(location: Location, history: History): void {
  const found = /^#code=([A-Za-z0-9._~-]{1,4096})$/.exec(location.hash);
  if (found === null) return;
  taken = found[1] ?? null;
  history.replaceState(null, "", location.pathname + location.search);
}

export function printedCode(): string {
  return taken ?? "";
}

/** Once it is used, or was seen to be of no use. */
export function forgetCode(): void {
  taken = null;
}
