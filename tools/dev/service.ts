import { type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { watch } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { END_WITH_US, goOn, startChild } from "../run/children.ts";

const ROOT = join(import.meta.dirname, "../..");
const MAIN = join(ROOT, "packages/orchestrator/src/main.ts");

/** What the service is made of; its tests are not. */
const WATCHED = ["proof", "contract", "host", "orchestrator"].map((name) =>
  join(ROOT, "packages", name, "src"),
);
const isSource = (name: string): boolean => /\.(ts|sql|json)$/.test(name) && !name.endsWith(".test.ts");

/** Editors write a file in several steps, and several files at once. */
const SETTLE_MS = 100;

export interface DevService {
  /** Resolves when the service listens, however often it has to start again until then. */
  listens(): Promise<void>;
}

/** Runs the service from its sources and starts it again whenever one of them changes. */
export function runService(
  environment: NodeJS.ProcessEnv,
  port: number,
  say: (line: string) => void,
): DevService {
  let child: ChildProcess | null = null;
  let listening = Promise.withResolvers<void>();
  let isListening = false;
  /** Requests that wait go on waiting. */
  const listensNoMore = (): void => {
    if (isListening) listening = Promise.withResolvers();
    isListening = false;
  };

  const start = (): void => {
    const started = startChild(process.execPath, [...END_WITH_US, MAIN, "serve"], {
      cwd: ROOT,
      env: environment,
      stdio: "inherit",
    });
    child = started;
    void untilListens(port, started).then((listens) => {
      if (!listens || child !== started) return;
      isListening = true;
      listening.resolve();
    });
    started.once("exit", (code, signal) => {
      if (child !== started) return;
      child = null;
      listensNoMore();
      say(`The service ended (${signal ?? `exit code ${code}`}). It starts again when a file changes.`);
    });
  };

  let restarting: Promise<void> | null = null;
  const restart = async (file: string): Promise<void> => {
    await delay(SETTLE_MS);
    say(`${file} changed: the service starts again.`);
    const ending = child;
    child = null;
    listensNoMore();
    if (ending !== null && ending.exitCode === null && ending.signalCode === null) {
      const ended = once(ending, "exit");
      ending.kill("SIGTERM");
      await ended;
    }
    // What changed from here on asks for another start.
    restarting = null;
    start();
  };
  for (const directory of WATCHED)
    watch(directory, { recursive: true }, (_, name) => {
      if (name === null || !isSource(name)) return;
      restarting ??= restart(name).catch(() => undefined);
    });
  start();
  return { listens: async () => listening.promise };
}

/** False where the process ended first. */
async function untilListens(port: number, child: ChildProcess): Promise<boolean> {
  while (child.exitCode === null && child.signalCode === null) {
    goOn();
    const socket = connect(port, "127.0.0.1");
    const listens = await new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(true));
      socket.once("error", () => resolve(false));
    });
    socket.destroy();
    if (listens) return true;
    await delay(50);
  }
  return false;
}
