import { execFileSync } from "node:child_process";

/** The commit whose tests all passed in this checkout, the long ones too. Git does not push it. */
export const TESTED = "refs/tests/passed";

/** The commit that the checkout is of; null with uncommitted changes, and outside a repository. */
export function committedState(root: string): string | null {
  return git(root, "status", "--porcelain") === "" ? git(root, "rev-parse", "HEAD") : null;
}

/** `before` is the state when the tests began: what changed meanwhile is not what was tested. */
export function rememberTested(root: string, before: string | null): void {
  if (before !== null && committedState(root) === before) git(root, "update-ref", TESTED, before);
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
