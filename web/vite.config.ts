// How the web is built: hashed files under /assets, nothing inline (the policy of the server allows
// none), and of each file a gzip and a Brotli twin, so that the server never compresses.
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";
import { precompress } from "./precompress.js";

const twins: Plugin = {
  name: "twins",
  apply: "build",
  writeBundle: (options) => precompress(options.dir ?? "dist"),
};

/** What nearly every page is made of: one file, fetched beside the first, and not a dozen after it. */
const COMMON = /\/src\/(parts|words|api)\/|\/node_modules\/@tanstack\/(react-)?(table|virtual)/;

export default defineConfig({
  plugins: [react(), tailwindcss(), twins],
  resolve: { alias: { "@": new URL("./src", import.meta.url).pathname } },
  build: {
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: "common", test: COMMON }] } } },
  },
  server: { proxy: { "/v1": "http://127.0.0.1:7077" } },
});
