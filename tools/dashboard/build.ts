/**
 * Builds the dashboard into packages/dashboard/dist, unless the build there is of just these
 * sources.
 *
 *   npm run dashboard
 */
import { createHash } from "node:crypto";
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "vite";

const ROOT = join(import.meta.dirname, "../..");
const DASHBOARD = join(ROOT, "packages/dashboard");
const MARK = join(DASHBOARD, "dist/.sources");

const sources = sourcesHash();
if (markOf() !== sources) {
  await build({ root: DASHBOARD, configFile: join(DASHBOARD, "vite.config.ts"), logLevel: "warn" });
  // The font's licence asks for it.
  cpSync(
    join(ROOT, "node_modules/@fontsource-variable/inter/LICENSE"),
    join(DASHBOARD, "dist/assets/inter-licence.txt"),
  );
  // Last: a build that was interrupted is made again.
  writeFileSync(MARK, sources);
}

function markOf(): string | null {
  try {
    return readFileSync(MARK, "utf8");
  } catch {
    return null;
  }
}

/**
 * Of all that goes into the build: the dashboard, what it imports of the project, and the versions
 * of everything else.
 */
function sourcesHash(): string {
  const folders = ["src", "public"].map((name) => join(DASHBOARD, name));
  const shared = ["packages/proof/src", "packages/verifier/src", "packages/contract/src"].map((name) =>
    join(ROOT, name),
  );
  const files = [...folders, ...shared].flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  files.push(
    join(DASHBOARD, "index.html"),
    join(DASHBOARD, "vite.config.ts"),
    join(ROOT, "package-lock.json"),
  );
  const hash = createHash("sha256");
  for (const file of files.toSorted()) hash.update(file.slice(ROOT.length)).update(readFileSync(file));
  return hash.digest("hex");
}
