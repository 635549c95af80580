// The entry: the theme and the code in the address first, then the pages.
import { CSPProvider } from "@base-ui/react/csp-provider";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Problem } from "./api/problem";
import { hideCode } from "./app/code";
import { makeRouter } from "./app/router";
import { applyTheme } from "./app/theme";
import "./index.css";

applyTheme();
hideCode(window.location, window.history);

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      retry: (failures, error) => error instanceof Problem && error.retryable && failures < 5,
      retryDelay: (failures) => Math.min(10_000, 500 * 2 ** failures),
    },
  },
});
const router = makeRouter(client);

const root = document.getElementById("root");
if (root === null) throw new Error("no #root in the page");
createRoot(root).render(
  <StrictMode>
    {/* The server's policy allows no inline style, so the library must add none. */}
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
