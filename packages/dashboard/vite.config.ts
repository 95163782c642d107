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
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {
      output: {
        // What the first page needs, and the rest in two files: a hundred small ones compress much
        // worse.
        codeSplitting: {
          groups: [
            { name: "main", test: /./, tags: ["$initial"], priority: 3 },
            {
              name: "proofs",
              test: /packages\/(?:proof|verifier|dashboard\/src\/(?:verif|pages\/(?:verify|receipts|log|events)))/,
              priority: 2,
            },
            { name: "pages", test: /./, priority: 1 },
          ],
        },
      },
      onLog(level, log, report) {
        // Component libraries mark files for React server components, which the dashboard does not
        // use.
        if (log.code !== "MODULE_LEVEL_DIRECTIVE") report(level, log);
      },
    },
  },
});
