import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

const TEST = /\.test\.tsx?$/;

/**
 * Where unit tests lie, as in vitest.config.ts; those of what crosses packages take longer than a
 * check may.
 */
const UNIT = /^(packages\/[^/]+\/(src|test)|tools)\//;

/** Reads every file of code, so any change may break it. */
const COMMENT_WIDTH = "tools/docs/comment-width.test.ts";

/**
 * The unit tests that changed, the one that reads every file, and those that import a changed file
 * by its name, in this order.
 */
export function testsOf(root: string, changed: readonly string[]): string[] {
  const own = changed.filter((file) => UNIT.test(file) && TEST.test(file));
  const sources = changed.filter((file) => /\.tsx?$/.test(file) && !TEST.test(file));
  if (sources.length === 0) return own;
  if (existsSync(join(root, COMMENT_WIDTH))) own.push(COMMENT_WIDTH);
  const all = ["packages", "tools"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
  );
  const importing = all.filter((file) => {
    if (!UNIT.test(file) || !TEST.test(file) || file.includes("node_modules/")) return false;
    const text = readFileSync(join(root, file), "utf8");
    return sources.some(
      (source) =>
        file.split("/", 2).join() === source.split("/", 2).join() && text.includes(`/${basename(source)}"`),
    );
  });
  return [...new Set([...own, ...importing])];
}
