// Logic is tested without a browser; what needs a document says so at the top of its file.
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { alias: { "@": new URL("./src", import.meta.url).pathname } },
  test: { environment: "node", include: ["src/**/*.test.{ts,tsx}"], testTimeout: 120_000 },
});
