/**
 * Holds the order of packages and folders (`npm test -- lint` runs it): ends with 1 and names what
 * breaks it.
 *
 *   node tools/layers/main.ts
 *   npm run graph              # draws it: see draw.ts
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readSources } from "./read-imports.ts";
import { type Findings, findingsIn } from "./rules.ts";

const { values } = parseArgs({
  options: { root: { type: "string", default: join(import.meta.dirname, "../..") } },
});

const RULES: Record<keyof Findings, string> = {
  circles: "Folders and files import one way, so these may not import each other in a circle",
  crossings: "Packages import one way, and src imports neither tests nor tools",
  upwards: "A folder imports only from those before it in tools/layers/rules.ts",
  testsAlone: "Code that only tests use must not be in src: move it to the package's test/",
  undeclared: "Everything that a package imports must be in its package.json",
};

const found = findingsIn(readSources(values.root), values.root);
const problems = (Object.keys(RULES) as (keyof Findings)[]).flatMap((kind) =>
  found[kind].map((each) => `${RULES[kind]}:\n  ${each}\n`),
);
for (const problem of problems) process.stderr.write(problem);
if (problems.length > 0) process.exitCode = 1;
else process.stdout.write("Packages and folders import one way.\n");
