import type { Socket } from "node:net";
import { PassThrough } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type { Child, Exit } from "../../processes/child.ts";
import { type EngineApi, EngineApiError } from "./engine-api.ts";
import { FrameReader } from "./frame-reader.ts";

const STDERR_BYTES = 16 * 1024;
const GRACE_MS = 2_000;
const ASK_AGAIN_MS = 50;
const KILLED = { code: null, signal: "SIGKILL" } as const;
/** 128 plus SIGKILL's 9, which is how runtimes report it: the time limit, or lack of memory. */
const KILLED_CODE = 137;

/**
 * A program that an `exec` started in a container, in the form of a child process. It can't be sent
 * a signal: `stop` ends its stdin, waits a little, and lets go of it; a program that runs on ends
 * with its container.
 */
export function containerChild(
  api: EngineApi,
  execId: string,
  { socket, rest }: { socket: Socket; rest: Buffer },
  signal: AbortSignal,
): Child {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const frames = new FrameReader(stdout, stderr);
  let errors = "";
  stderr.setEncoding("utf8");
  stderr.on("data", (text: string) => {
    errors = (errors + text).slice(0, STDERR_BYTES);
  });
  const { promise: exited, resolve } = Promise.withResolvers<Exit>();
  const { promise: silent, resolve: fellSilent } = Promise.withResolvers<void>();

  const take = (piece: Buffer): void => {
    const full = frames.push(piece);
    if (full.length === 0) return;
    socket.pause();
    void Promise.all(full.map((stream) => new Promise((drained) => stream.once("drain", drained)))).then(() =>
      socket.resume(),
    );
  };
  const end = (): void => {
    fellSilent();
    stdout.end();
    stderr.end();
    // Nobody reads what would still be written, so writers that wait get an error.
    socket.destroy();
  };
  socket.on("error", () => undefined);
  // Lets its starter listen first: its first output may have come with the answer that it started.
  setImmediate(() => {
    socket.on("data", take);
    socket.once("end", end);
    socket.once("close", end);
    if (rest.length > 0) take(rest);
    if (socket.destroyed) end();
    else socket.resume();
  });

  let letGo: NodeJS.Timeout | undefined;
  const terminate = (): void => {
    if (letGo !== undefined) return;
    socket.end();
    letGo = setTimeout(end, GRACE_MS);
  };
  signal.addEventListener("abort", terminate, { once: true });
  if (signal.aborted) terminate();

  const settle = async (): Promise<void> => {
    await silent;
    clearTimeout(letGo);
    signal.removeEventListener("abort", terminate);
    const isLetGo = letGo !== undefined;
    resolve({ ...(await exitOf(api, execId, isLetGo)), stderr: errors });
  };
  void settle();

  return {
    // It has no pid that means anything outside.
    pid: 0,
    stdin: socket,
    stdout,
    stderr,
    exited,
    stop: () => {
      terminate();
      return exited;
    },
  };
}

/**
 * The runtime may learn of an exit a moment after the streams end. If we let go of a program, we
 * don't wait for its end.
 */
async function exitOf(
  api: EngineApi,
  execId: string,
  isLetGo: boolean,
): Promise<Pick<Exit, "code" | "signal">> {
  for (let waited = 0; waited < 30_000; waited += ASK_AGAIN_MS) {
    let answer: unknown;
    try {
      answer = await api.call("GET", `/exec/${execId}/json`);
    } catch (error) {
      // When its container is gone, so is the program.
      if (error instanceof EngineApiError) return KILLED;
      throw error;
    }
    const { Running: running, ExitCode: code } = answer as { Running?: unknown; ExitCode?: unknown };
    if (running !== true)
      return typeof code === "number" && code !== KILLED_CODE ? { code, signal: null } : KILLED;
    if (isLetGo) return KILLED;
    await delay(ASK_AGAIN_MS);
  }
  return KILLED;
}
