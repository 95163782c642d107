import { defineConfig } from "vite";

/**
 * `npm run dashboard` builds into dist/, from where the service serves it. For work on the pages: `npm run dev`.
 */
export default defineConfig({
  root: import.meta.dirname,
  build: {
    target: "es2023",
    // Those that have light-dark(): what it is rewritten to for older ones needs more than is there.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    // Everything stays a file of its own: the page's policy allows no inline content.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      onLog(level, log, report) {
        // Component libraries mark their files for React's server components, of which there are none here.
        if (log.code !== "MODULE_LEVEL_DIRECTIVE") report(level, log);
      },
    },
  },
});
