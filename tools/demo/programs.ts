import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { END_WITH_US, startChild } from "../run/children.ts";
import { StepFailed } from "./story.ts";

const main = (name: string): string =>
  fileURLToPath(new URL(`../../packages/${name}/src/main.ts`, import.meta.url));

const PROGRAMS = {
  "attestore-server": main("orchestrator"),
  attestore: main("agent"),
  "attestore-verify": main("verifier"),
};

export type Program = keyof typeof PROGRAMS;

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

/**
 * The environment without this shell's own Attestore settings, so that the demo shows the built-in
 * ones.
 */
function environment(extra: Record<string, string>): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) => !name.startsWith("ATTESTORE_") && name !== "DATABASE_URL",
  );
  return { ...Object.fromEntries(own), ...extra };
}

function start(program: Program, args: string[], env: Record<string, string>): ChildProcess {
  return startChild(process.execPath, [...END_WITH_US, PROGRAMS[program], ...args], {
    env: environment(env),
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** Runs one of our programs to its end, as a person would in a shell. */
export async function run(
  program: Program,
  args: string[],
  env: Record<string, string> = {},
): Promise<Finished> {
  const child = start(program, args, env);
  const finished: Finished = { code: null, stdout: "", stderr: "" };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (finished.stdout += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (finished.stderr += text));
  [finished.code] = (await once(child, "close")) as [number | null];
  return finished;
}

/**
 * Runs a program that has to end with one of the exit codes, and parses what it printed as JSON.
 */
export async function runJson<T>(
  program: Program,
  args: string[],
  env: Record<string, string> = {},
  codes: number[] = [0],
): Promise<{ code: number; json: T }> {
  const { code, stdout, stderr } = await run(program, [...args, "--json"], env);
  if (code === null || !codes.includes(code)) {
    throw new StepFailed(`${program} ${args.join(" ")} ended with exit code ${code}:\n${stderr || stdout}`);
  }
  return { code, json: JSON.parse(stdout) as T };
}

/** A running orchestrator; `stop` asks it to end and waits until it has. */
export interface Server {
  stop: () => Promise<void>;
}

/** Starts the orchestrator and waits until it says that it listens. */
export async function startServer(env: Record<string, string>): Promise<Server> {
  const child = start("attestore-server", ["serve"], env);
  let talk = "";
  const ended = once(child, "close");
  await new Promise<void>((resolve, reject) => {
    const listen = (text: string): void => {
      talk += text;
      if (talk.includes("listening")) resolve();
    };
    child.stdout?.setEncoding("utf8").on("data", listen);
    child.stderr?.setEncoding("utf8").on("data", listen);
    child.once("close", (code) =>
      reject(new StepFailed(`attestore-server ended with exit code ${code}:\n${talk}`)),
    );
  });
  return {
    stop: async () => {
      child.kill("SIGTERM");
      const [code] = (await ended) as [number | null];
      if (code !== 0) throw new StepFailed(`attestore-server ended with exit code ${code}:\n${talk}`);
    },
  };
}
