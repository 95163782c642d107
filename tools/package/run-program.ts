import { spawnSync } from "node:child_process";

export interface Surroundings {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * Runs a program to its end and returns its stdout. Throws with what it wrote if it fails or is not
 * installed.
 */
export function runProgram(
  command: string,
  args: readonly string[],
  { cwd, env }: Surroundings = {},
): string {
  const { status, signal, error, stdout, stderr } = spawnSync(command, args, {
    encoding: "utf8",
    maxBuffer: 64 << 20,
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env: { ...process.env, ...env } }),
  });
  if (error)
    throw new Error(`${command}: ${error.message}. \`tools/setup package\` installs what is needed.`);
  if (status !== 0)
    throw new Error(`${command} ${args.join(" ")} ended with ${signal ?? status}:\n${stdout}${stderr}`);
  return stdout;
}
