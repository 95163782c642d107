import { basename, dirname, join } from "node:path";
import { isSea } from "node:sea";
import { fileURLToPath } from "node:url";

const HERE = "packages/agent/src/processes/own-program.ts";
const MAIN = "packages/agent/src/single-executable.ts";

/**
 * The files of this program besides the executable: none for a single executable, otherwise the
 * sources, or one file made from them.
 */
function programFile(): { readonly directory: string; readonly file: string } | null {
  if (isSea()) return null;
  const path = fileURLToPath(import.meta.url);
  return path.endsWith(`/${HERE}`)
    ? { directory: path.slice(0, -HERE.length - 1), file: MAIN }
    : { directory: dirname(path), file: basename(path) };
}

function started(executable: string, directory: string | null): readonly string[] {
  const program = programFile();
  if (program === null) return [executable];
  return [executable, "--no-warnings", join(directory ?? program.directory, program.file)];
}

/** How to start this same program once more; the name of the command follows. */
export function ownProgram(): readonly string[] {
  return started(process.execPath, null);
}

/** The same if its files are mounted at other paths. */
export function ownProgramAt(executable: string, directory: string): readonly string[] {
  return started(executable, directory);
}

/** The directory with its files besides the executable; null for a single executable. */
export function programDirectory(): string | null {
  return programFile()?.directory ?? null;
}
