import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";

const ROOT = new URL("../../", import.meta.url).pathname;
const PAGES = globSync(["*.md", "docs/**/*.md"], { cwd: ROOT }).toSorted();

/** A heading's anchor, as GitHub makes it. */
function anchorOf(heading: string): string {
  return heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");
}

function withoutCode(text: string): string {
  return text.replaceAll(/^```[^]*?^```/gm, "");
}

function anchorsOf(file: string): Set<string> {
  const headings = withoutCode(readFileSync(file, "utf8")).matchAll(/^#+ (.*)$/gm);
  return new Set(Array.from(headings, ([, heading = ""]) => anchorOf(heading)));
}

/** The links of a page to files of ours, as they stand: a path, an anchor, or both. */
function linksOf(page: string): string[] {
  const text = withoutCode(readFileSync(join(ROOT, page), "utf8"));
  return [...text.matchAll(/\]\(([^)\s]+)\)/g), ...text.matchAll(/src="([^"]+)"/g)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^[a-z]+:/.test(target));
}

test("there are links to follow", () => {
  expect(PAGES.length).toBeGreaterThan(20);
  expect(PAGES.flatMap(linksOf).length).toBeGreaterThan(200);
});

test.each(PAGES)("%s: each link leads to a file, and to a heading in it", (page) => {
  const broken = linksOf(page).filter((link) => {
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? join(ROOT, page) : join(ROOT, dirname(page), path);
    if (!existsSync(target) || relative(ROOT, target).startsWith("..")) return true;
    return anchor !== undefined && !anchorsOf(target).has(anchor);
  });
  expect(broken).toEqual([]);
});
