import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const ROOT = join(import.meta.dirname, "../../..");

/** Builds what the service serves, unless that is there; one at a time, since test files run beside each other. */
export async function buildDashboard(): Promise<void> {
  const cache = join(ROOT, "node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  const node = join(ROOT, "node_modules/.bin/node");
  const build = [join(cache, "dashboard-build.lock"), node, join(ROOT, "tools/dashboard/build.ts")];
  // Vite builds for whom NODE_ENV names: not for tests.
  await promisify(execFile)("flock", build, { env: { ...process.env, NODE_ENV: "production" } });
}
