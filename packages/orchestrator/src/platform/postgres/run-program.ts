import { execFile } from "node:child_process";

export interface ProgramResult {
  /** Exit code, or null if a signal or a failed start ended it. */
  exitCode: number | null;
  stdout: string;
  stderr: string;
  /** Why it could not be started ("ENOENT", "EACCES"), if it could not. */
  startError: string | null;
}

/**
 * Runs a program to its end with a clean environment. Never rejects: the result says what went
 * wrong.
 */
export function runProgram(
  file: string,
  args: string[],
  options: { env?: NodeJS.ProcessEnv; cwd?: string } = {},
): Promise<ProgramResult> {
  return new Promise((resolve) => {
    execFile(
      file,
      args,
      { env: options.env ?? process.env, cwd: options.cwd ?? "/", maxBuffer: 1 << 24 },
      (error, stdout, stderr) => {
        const code = error?.code;
        resolve({
          exitCode: error === null ? 0 : typeof code === "number" ? code : null,
          stdout,
          stderr,
          startError: typeof code === "string" ? code : null,
        });
      },
    );
  });
}
