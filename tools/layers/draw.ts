/**
 * `npm run graph`: which package imports which, and in each package which folder imports which, as
 * Mermaid diagrams in Markdown. An arrow bears the number of imports; a dotted one is part of a
 * circle.
 *
 *   npm run graph                                        # all packages
 *   npm run graph -- packages/agent/src/engines          # the entries of one folder
 *   npm run graph -- --out graph.md                      # into a file
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Circle, circlesOf, type Edge, edgesOfFolders } from "./circles.ts";
import { readSources } from "./read-imports.ts";
import { productOf } from "./rules.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { out: { type: "string" }, root: { type: "string", default: join(import.meta.dirname, "../..") } },
});

const sources = readSources(values.root);
const product = productOf(sources);
const edges = edgesOfFolders(sources.imports.filter(({ from }) => product.has(from)));
const circles = circlesOf(edges);
const folders =
  positionals.length > 0
    ? positionals.map((folder) => folder.replace(/\/$/, ""))
    : edges.map((edge) => edge.in).filter((folder) => /^packages(\/[^/]+\/src)?$/.test(folder));
const text = [...new Set(folders)]
  .toSorted()
  .map((folder) => drawing(folder))
  .join("\n");
if (values.out === undefined) process.stdout.write(text);
else writeFileSync(values.out, text);

function drawing(folder: string): string {
  const inFolder = edges.filter((edge) => edge.in === folder);
  if (inFolder.length === 0) throw new Error(`${folder} has no entries that import each other`);
  const names = [...new Set(inFolder.flatMap(({ from, to }) => [from, to]))].toSorted();
  const id = (name: string): string => `n${names.indexOf(name)}`;
  const inCircle = ({ from, to }: Edge): boolean =>
    circles.some((circle) => circle.in === folder && has(circle, from) && has(circle, to));
  return [
    `## ${folder}\n`,
    "```mermaid",
    "flowchart TD",
    ...names.map((name) => `  ${id(name)}["${name}"]`),
    ...inFolder.map(
      (edge) =>
        `  ${id(edge.from)} ${inCircle(edge) ? "-." : "--"} ${edge.imports.length} ${inCircle(edge) ? ".->" : "-->"} ${id(edge.to)}`,
    ),
    "```\n",
  ].join("\n");
}

function has(circle: Circle, name: string): boolean {
  return circle.entries.includes(name);
}
