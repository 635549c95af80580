// The token that every change must bear beside the cookie. It lives in this module and nowhere else:
// not in storage, not in an address. A reload asks the server for it again.
let held: string | null = null;

export function holdCsrf(token: string | null): void {
  held = token;
}

export function csrfHeaders(method: string): Record<string, string> {
  const isChange = method !== "GET" && method !== "HEAD";
  return isChange && held !== null ? { "X-CSRF-Token": held } : {};
}
