import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";
import { anchorsOf, withoutCode } from "./anchors.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const PAGES = globSync(["*.md", "docs/**/*.md"], { cwd: ROOT }).toSorted();

/** The links of a page to files of ours, as they stand: a path, an anchor, or both. */
function linksOf(page: string): string[] {
  const text = withoutCode(readFileSync(join(ROOT, page), "utf8"));
  return [...text.matchAll(/\]\(([^)\s]+)\)/g), ...text.matchAll(/src="([^"]+)"/g)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^[a-z]+:/.test(target));
}

test("the pages have links to follow", () => {
  expect(PAGES.length).toBeGreaterThan(20);
  expect(PAGES.flatMap(linksOf).length).toBeGreaterThan(200);
});

test.each(PAGES)("each link of %s leads to a file, and to a heading in it", (page) => {
  const broken = linksOf(page).filter((link) => {
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? join(ROOT, page) : join(ROOT, dirname(page), path);
    if (!existsSync(target) || relative(ROOT, target).startsWith("..")) return true;
    return anchor !== undefined && !anchorsOf(readFileSync(target, "utf8")).has(anchor);
  });
  expect(broken).toEqual([]);
});
