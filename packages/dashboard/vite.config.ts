import { defineConfig } from "vite";

/**
 * `npm run dashboard` builds into dist/, which the service serves. To work on the pages: `npm run
 * dev`.
 */
export default defineConfig({
  root: import.meta.dirname,
  build: {
    target: "es2023",
    // Browsers with light-dark(): the rewrite for older ones needs rules that are not there.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    // Keep every asset in its own file: the page's Content-Security-Policy allows no inline
    // content.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      onLog(level, log, report) {
        // Component libraries mark files for React server components, which the dashboard does not
        // use.
        if (log.code !== "MODULE_LEVEL_DIRECTIVE") report(level, log);
      },
    },
  },
});
