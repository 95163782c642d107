import { execFileSync } from "node:child_process";

/** The commit whose tests all passed in this checkout, the long ones too. Git does not push it. */
export const TESTED = "refs/tests/passed";

/** Not with uncommitted changes, and not outside a repository: then no commit was tested. */
export function rememberTested(root: string): void {
  if (git(root, "status", "--porcelain") === "") git(root, "update-ref", TESTED, "HEAD");
}

export function isTested(root: string): boolean {
  const tested = git(root, "rev-parse", "--verify", "--quiet", TESTED);
  return tested !== null && tested === git(root, "rev-parse", "HEAD");
}

/** What git prints; null if it cannot. */
function git(root: string, ...args: string[]): string | null {
  try {
    return execFileSync("git", args, {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return null;
  }
}
