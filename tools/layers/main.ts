/**
 * Holds the order of packages and folders (`npm test -- lint` runs it):
 *
 *   node tools/layers/main.ts            # ends with 1 where a rule is broken that was kept, or is kept that known.json says is broken
 *   node tools/layers/main.ts --forget   # takes out of known.json what is no longer broken; nothing new is ever put in by itself
 *   npm run graph                        # draws it: see draw.ts
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readSources } from "./read-imports.ts";
import { type Findings, findingsIn } from "./rules.ts";

const { values } = parseArgs({
  options: {
    forget: { type: "boolean", default: false },
    root: { type: "string", default: join(import.meta.dirname, "../..") },
  },
});
const knownFile = join(values.root, "tools/layers/known.json");

const RULES: Record<keyof Findings, string> = {
  circles: "Folders and files import one way, so these may not import each other in a circle",
  crossings: "Packages import one way, and src imports neither tests nor tools",
  testsAlone: "What only tests use does not lie in src: move it to the package's test/",
  undeclared: "What a package imports is in its package.json",
};
const kinds = Object.keys(RULES) as (keyof Findings)[];

const found = findingsIn(readSources(values.root), values.root);
const known = JSON.parse(readFileSync(knownFile, "utf8")) as Record<keyof Findings, string[]>;
const problems: string[] = [];
for (const kind of kinds) {
  const gone = known[kind].filter((name) => !found[kind].includes(name));
  const smaller = found[kind].filter((name) => gone.some((each) => isPartOf(name, each)));
  for (const each of found[kind].filter((name) => !known[kind].includes(name) && !smaller.includes(name)))
    problems.push(`${RULES[kind]}:\n  ${each}`);
  known[kind] = [...known[kind].filter((name) => !gone.includes(name)), ...smaller].toSorted();
  if (!values.forget)
    for (const each of gone)
      problems.push(
        `This is mended, or smaller: node tools/layers/main.ts --forget changes tools/layers/known.json.\n  ${each}`,
      );
}
if (values.forget) writeFileSync(knownFile, `${JSON.stringify(known, null, 2)}\n`);
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;
else
  process.stdout.write(
    `Packages and folders import one way, but for ${known.circles.length} known circles and ${known.crossings.length + known.testsAlone.length + known.undeclared.length} other known exceptions.\n`,
  );

/** Whether a circle is what is left of another. */
function isPartOf(circle: string, other: string): boolean {
  const [folder, ...entries] = circle.split(" ");
  const [otherFolder, ...otherEntries] = other.split(" ");
  return folder === otherFolder && entries.every((entry) => otherEntries.includes(entry));
}
