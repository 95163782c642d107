import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { copyModules, directoryOnTheirDisk } from "./copied-modules.ts";

const ROOT = join(import.meta.dirname, "../../..");

export interface RepositoryCopy {
  directory: string;
  git: (...args: string[]) => string;
  remove: () => void;
}

/**
 * This checkout as it is now, in a directory of its own that may be changed: committed on `main`,
 * with the same packages of npm's.
 */
export function repositoryCopy(): RepositoryCopy {
  const directory = directoryOnTheirDisk("attestore-repository-");
  // Restores run as another user, who has to read the sources.
  chmodSync(directory, 0o755);
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: ROOT,
    encoding: "utf8",
    maxBuffer: 1 << 26,
  });
  for (const name of listed.split("\0").filter((each) => each !== "")) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    // A file that was removed and not committed is not there.
    cpSync(join(ROOT, name), join(directory, name), { force: true });
  }
  copyModules(directory);
  const git = (...args: string[]): string => execFileSync("git", args, { cwd: directory, encoding: "utf8" });
  git("init", "--quiet", "--initial-branch=main");
  git("config", "user.name", "A developer");
  git("config", "user.email", "developer@example.org");
  git("add", "--all");
  git("commit", "--quiet", "--message", "As it was");
  return { directory, git, remove: () => rmSync(directory, { recursive: true, force: true }) };
}
