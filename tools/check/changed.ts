import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

/**
 * Files that are not as they are on the branch that this one is to go into: committed since,
 * changed, or new. Those removed are not among them.
 */
export function changedFiles(root: string): string[] {
  const git = (...args: string[]): string => execFileSync("git", args, { cwd: root, encoding: "utf8" });
  const base = git("merge-base", "HEAD", target(root)).trim();
  const names = [
    ...git("diff", "--name-only", "-z", base).split("\0"),
    ...git("ls-files", "--others", "--exclude-standard", "-z").split("\0"),
  ];
  return [...new Set(names)].filter((name) => name !== "" && existsSync(join(root, name))).toSorted();
}

/**
 * What the branch follows; else main, here or at the origin; where that is this branch itself, the
 * last commit.
 */
function target(root: string): string {
  for (const name of ["@{upstream}", "origin/main", "main"])
    try {
      return execFileSync("git", ["rev-parse", "--verify", "--quiet", `${name}^{commit}`], {
        cwd: root,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
      }).trim();
    } catch {
      // There is none of that name.
    }
  return "HEAD";
}
