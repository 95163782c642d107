import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const ROOT = join(import.meta.dirname, "../../..");

/**
 * Builds the dashboard unless it is already built; one build at a time, because test files run in
 * parallel.
 */
export async function buildDashboard(): Promise<void> {
  const cache = join(ROOT, "node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  const node = join(ROOT, "node_modules/.bin/node");
  const build = [join(cache, "dashboard-build.lock"), node, join(ROOT, "tools/dashboard/build.ts")];
  // Vite builds for the environment in NODE_ENV, which must not be the tests'.
  await promisify(execFile)("flock", build, { env: { ...process.env, NODE_ENV: "production" } });
}
