import { playwright } from "@vitest/browser-playwright";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const project = (name: string, include: string[], timeout_s: number) => ({
  test: {
    name,
    include,
    testTimeout: timeout_s * 1000,
    hookTimeout: timeout_s * 1000,
    environment: "node" as const,
    globalSetup: "tools/test/bundled-programs.ts",
    // What is waited for may be done by a process that waits for a core; the default is one second.
    expect: { poll: { timeout: 30_000 } },
  },
});

/** Debian's Chromium, which has no sandbox for root and no business on the network. */
const chromium = playwright({
  launchOptions: {
    executablePath: "/usr/bin/chromium",
    args: [
      "--headless",
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
    include: ["packages/proof/{src,test}/**/*.test.ts"],
    exclude: ["packages/proof/test/node/**"],
    testTimeout: 180_000,
    hookTimeout: 180_000,
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
  test: {
    ...project("packaging", ["packaging/test/**/*.test.ts"], 300).test,
    globalSetup: "packaging/test/built-release.ts",
  },
};

/** The largest files come first, which usually take longest. This one is small, and were it last all others would have to wait for it. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification): boolean => moduleId.endsWith("/schemathesis.test.ts");
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    // Most tests wait for processes that they start: with four workers a fifth of two cores is idle.
    maxWorkers: 5,
    sequence: { sequencer: LongestFirst },
    projects: [
      project("unit", ["packages/*/{src,test}/**/*.test.ts", "tools/**/*.test.ts"], 120),
      browser,
      project("e2e", ["tests/e2e/**/*.test.ts"], 180),
      project("interop", ["tests/interop/**/*.test.ts"], 300),
      project("chaos", ["tests/chaos/**/*.test.ts"], 600),
      packaging,
    ],
  },
});
