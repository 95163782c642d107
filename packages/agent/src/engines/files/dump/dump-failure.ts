import { endedWith, type Exit } from "../../../processes/child.ts";
import { RunError } from "../../../errors/run-error.ts";

export const ADVICE = "stop the programs that write there, or back up a snapshot";

const CHANGED = /: (?:file changed as we read it|File removed before we read it|File shrank by .*)$/;

/**
 * For exit code 1 of `tar --create`: a file changed while tar read it. The archived file may be
 * half old and half new, or padded with zeros. Such an archive can be restored, but it is not a
 * backup, because the source never looked like that.
 */
export function tarFailed(exit: Exit, path: string): RunError {
  const lines = exit.stderr
    .split("\n")
    .map((line) => line.replace(/^\S*tar: /, ""))
    .filter((line) => line !== "" && !line.startsWith("Exiting with failure status"));
  const changed = lines.filter((line) => CHANGED.test(line));
  if (exit.code === 1) {
    return new RunError(
      "source_changed",
      `${path} changed while it was read (${firstOf(changed.length > 0 ? changed : lines)}): ${ADVICE}`,
    );
  }
  const errors = lines.filter((line) => !changed.includes(line));
  const how = firstOf(errors);
  return new RunError(
    "dump_failed",
    `tar of ${path} ended with ${endedWith(exit)}${how === "" ? "" : `: ${how}`}`,
  );
}

function firstOf(lines: readonly string[]): string {
  const shown = lines.slice(0, 3).map((line) => line.slice(0, 200));
  return shown.join("; ") + (lines.length > shown.length ? `; and ${lines.length - shown.length} more` : "");
}

export function namesChanged(path: string, cause?: unknown): RunError {
  return new RunError(
    "source_changed",
    `files below ${path} were created, removed or moved while it was read, so a file may be missing: ${ADVICE}`,
    { cause },
  );
}

/** For an archive with other names than the directory has, of which tar said nothing. */
export function namesLeftOut(path: string, archived: Counts, names: Counts): RunError {
  const [has, of] = [archived, names].map(({ files, directories }) => files + directories);
  return new RunError(
    "dump_failed",
    `tar archived ${has} of the ${of} names in ${path} and said nothing: see what it lists with tar --create --file=- --directory=${path} . | tar --list, ` +
      "and whether the program tar is another one",
  );
}

interface Counts {
  readonly files: number;
  readonly directories: number;
}
