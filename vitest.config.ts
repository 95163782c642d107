import { defineConfig } from "vitest/config";

const project = (name: string, include: string[], timeout_s: number) => ({
  test: {
    name,
    include,
    testTimeout: timeout_s * 1000,
    hookTimeout: timeout_s * 1000,
    environment: "node" as const,
  },
});

export default defineConfig({
  test: {
    projects: [
      project("unit", ["packages/*/src/**/*.test.ts", "packages/*/test/**/*.test.ts"], 60),
      project("e2e", ["tests/e2e/**/*.test.ts"], 180),
      project("interop", ["tests/interop/**/*.test.ts"], 300),
      project("chaos", ["tests/chaos/**/*.test.ts"], 600),
    ],
  },
});
