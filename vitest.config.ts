import { playwright } from "@vitest/browser-playwright";
import { defineConfig } from "vitest/config";
import { childrenAreBundled } from "./tools/test/bundled-programs.ts";
import { clustersAreCopied } from "./tools/test/prepared-clusters.ts";
import { LongestFirst } from "./tools/test/longest-first.ts";

/**
 * Node starts with a heap so small that loading the sources alone collects it some thirty times: a
 * third of the processor time of a short file.
 */
const execArgv = ["--min-semi-space-size=32", "--max-semi-space-size=64", "--initial-old-space-size=512"];

/** Only ends what hangs: how long a test takes is the machine's matter, and says nothing here. */
const LIMIT_MS = 600_000;

const project = (name: string, include: string[], isolate = true) => ({
  plugins: [childrenAreBundled, clustersAreCopied],
  test: {
    name,
    include,
    isolate,
    execArgv,
    restoreMocks: true,
    testTimeout: LIMIT_MS,
    hookTimeout: LIMIT_MS,
    environment: "node" as const,
    globalSetup: "tools/test/bundled-programs.ts",
    // What is waited for may be done by a process that waits for a core; the default is one second.
    expect: { poll: { timeout: 90_000 } },
  },
});

/**
 * Debian's Chromium without its windows; it has no sandbox for root and no business on the network.
 */
const chromium = playwright({
  launchOptions: {
    executablePath: "/usr/bin/chromium-headless-shell",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  },
});

/** What runs in browsers is tested in one, by the same files. */
const browser = {
  test: {
    name: "browser",
    // Functions of bytes leave nothing behind; a page for each file would take half of the time.
    isolate: false,
    include: ["packages/proof/{src,test}/**/*.test.ts"],
    exclude: ["packages/proof/test/node/**"],
    testTimeout: LIMIT_MS,
    hookTimeout: LIMIT_MS,
    browser: {
      enabled: true,
      headless: true,
      screenshotFailures: false,
      provider: chromium,
      instances: [{ browser: "chromium" as const }],
    },
  },
};

/** What ships: built once, then run, installed and removed. */
const packaging = {
  plugins: [childrenAreBundled],
  test: {
    ...project("packaging", ["packaging/test/**/*.test.ts"]).test,
    globalSetup: "packaging/test/built-release.ts",
  },
};

export default defineConfig({
  test: {
    // Most tests wait for processes that they start: with six workers a fifth of two cores is idle.
    maxWorkers: 8,
    sequence: { sequencer: LongestFirst },
    projects: [
      // Tests beside the code share processes: to load the same sources for each file takes a
      // second of each.
      project("unit", ["packages/*/src/**/*.test.ts"], false),
      project("unit (isolated)", ["packages/*/test/**/*.test.ts", "tools/**/*.test.ts"]),
      browser,
      project("e2e", ["tests/e2e/**/*.test.ts"]),
      project("interop", ["tests/interop/**/*.test.ts"]),
      project("chaos", ["tests/chaos/**/*.test.ts"]),
      packaging,
    ],
  },
});
