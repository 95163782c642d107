import type { Readable, Writable } from "node:stream";
import type { Child } from "../../processes/child.ts";
import { coalesce } from "../../processes/coalesce.ts";
import { RunError, stopIfAborted } from "../../errors/run-error.ts";
import type { Place, PlaceProgram } from "../place.ts";
import { FRAME, type Frame, FrameDecoder, jsonFrame, type Ready } from "./frames.ts";
import type { SandboxLimits } from "../bounds/sandbox-limits.ts";
import { isMissing, RemoteChild, type RemoteRequest } from "./remote-child.ts";

/** A connection to a sandbox that was just made, and that nobody else has used. */
export interface SandboxStream {
  readonly input: Writable;
  readonly output: Readable;
  /** Leads to its `DIRECT`, if it has that. */
  readonly direct?: Writable;
  /** Its first process, if that is on this host. */
  readonly pid?: number;
  /** Ends it with everything in it; resolves when it is gone. */
  close(): Promise<void>;
}

const READY_MS = 30_000;

/**
 * Talks to a sandbox: its programs look like children of ours.
 * @throws RunError `sandbox_failed` if it does not answer
 */
export async function openRemotePlace(
  stream: SandboxStream,
  limits: SandboxLimits,
  onLimit: (limit: "disk" | "host") => void,
): Promise<Place> {
  const { input, output } = stream;
  let direct = stream.direct ?? null;
  const decoder = new FrameDecoder();
  const children = new Map<number, RemoteChild>();
  const ready = Promise.withResolvers<Ready>();
  let channels = 0;
  let isLost = false;
  const send = (bytes: Buffer): void => {
    if (!isLost) input.write(bytes);
  };
  const lose = (): void => {
    isLost = true;
    ready.reject(lost());
    for (const child of children.values()) child.lose();
  };
  const take = (each: Frame): void => {
    const { type, channel, payload } = each;
    if (type === FRAME.ready) ready.resolve(JSON.parse(payload.toString()) as Ready);
    else if (type === FRAME.limit) onLimit(payload.toString() === "host" ? "host" : "disk");
    else children.get(channel)?.take(each);
    if (type === FRAME.exit || type === FRAME.notStarted) children.delete(channel);
  };
  input.on("error", lose);
  output.on("error", lose);
  output.once("end", lose);
  output.once("close", lose);
  output.on("data", (bytes: Buffer) => {
    try {
      for (const each of decoder.push(bytes)) take(each);
    } catch {
      lose();
    }
  });
  send(jsonFrame(FRAME.limits, 0, limits));
  const tooLate = setTimeout(() => ready.reject(lost()), READY_MS);
  let found: Ready;
  try {
    found = await ready.promise;
  } catch (error) {
    await stream.close();
    throw error;
  } finally {
    clearTimeout(tooLate);
  }

  async function begin(
    request: RemoteRequest,
    own: Writable | null = null,
  ): Promise<[RemoteChild, string | null]> {
    stopIfAborted(request.signal);
    if (isLost) throw lost();
    const remote = new RemoteChild(++channels, request, send, own);
    children.set(channels, remote);
    const code = await remote.begun;
    stopIfAborted(request.signal);
    return [remote, code];
  }

  async function connect(path: string, signal: AbortSignal): Promise<Child> {
    const request = { command: "", args: [], env: {}, cwd: null, signal, stopSignal: "SIGKILL" } as const;
    const [{ child }, code] = await begin({ ...request, socket: path });
    if (code === null) return child;
    throw new RunError("sandbox_failed", `the scratch server's socket does not answer (${code})`);
  }

  async function start({
    command,
    args,
    env = {},
    cwd,
    signal,
    stopSignal = "SIGTERM",
    isDump,
    isFedDirectly = false,
  }: PlaceProgram): Promise<Child> {
    const request = { command, args, env, cwd: cwd ?? null, signal, stopSignal };
    const own = isFedDirectly ? direct : null;
    if (isFedDirectly) direct = null;
    const [remote, code] = await begin(own === null ? request : { ...request, isDirect: true }, own);
    if (code !== null) {
      throw isMissing(code)
        ? new RunError(
            "tool_missing",
            `the program ${command} is missing or not executable in the sandbox: install it where its user can run it`,
          )
        : new RunError("sandbox_failed", `${command} could not be started in the sandbox (${code})`);
    }
    const { child } = remote;
    return isDump === true ? { ...child, stdout: coalesce(child.stdout) } : child;
  }

  let closing: Promise<void> | null = null;
  return {
    kind: "isolated",
    home: found.home,
    sockets: found.sockets,
    self: found.self,
    shared: null,
    start,
    connect,
    close: () => {
      // Whoever started the sandbox stops the processes in there, perhaps a moment later. Nobody is
      // left to be told.
      isLost = true;
      return (closing ??= stream.close());
    },
  };
}

function lost(): RunError {
  return new RunError(
    "sandbox_failed",
    "the sandbox ended before the restore: it reached its time or memory limit, or was stopped from outside",
  );
}
