import type { Readable } from "node:stream";
import { errorCode } from "@attestore/host/errno";
import { evaluateCommand, type CommandCheckConfig, notInTime, type Printed } from "../checks/index.ts";
import type { Restored } from "../engines/engine.ts";
import { type Child, endedWith, type Exit } from "../processes/child.ts";
import { RunError, stopIfAborted } from "../errors/run-error.ts";

/** The largest row that a check may have. */
const MAX_OUTPUT = 262_144;
/**
 * The exit codes with which a shell, and a container's runtime, say that they cannot start a
 * program.
 */
const NOT_STARTED: ReadonlySet<number | null> = new Set([126, 127]);

interface Limits {
  readonly timeout_s: number;
  readonly signal: AbortSignal;
}

/**
 * Runs a command check next to the restored copy. The check fails if the program does not end in
 * time, ends with another exit code than 0, or prints anything but one JSON object. Its stderr is
 * not kept, because it may contain data. `seen` is its output.
 * @throws RunError `tool_missing`, `sandbox_lacks`, `sandbox_failed`, `interrupted`
 */
export async function runCommandCheck(
  restored: Restored,
  check: CommandCheckConfig,
  { timeout_s, signal }: Limits,
): Promise<{ readonly outcome: ReturnType<typeof evaluateCommand>; readonly seen: readonly string[] }> {
  const { startCommand } = restored;
  if (startCommand === undefined) {
    throw new RunError(
      "sandbox_lacks",
      `check ${check.id} is a command, which this engine cannot run on the restored data: use a query`,
    );
  }
  const started = performance.now();
  const limit = AbortSignal.timeout(timeout_s * 1000);
  const stopped = AbortSignal.any([signal, limit]);
  const child = await startCommand.call(restored, check.command, signal);
  stopped.addEventListener("abort", () => killAll(child), { once: true });
  if (stopped.aborted) killAll(child);
  child.stdin.end();
  const output = await readBounded(child.stdout);
  if (output === null) killAll(child);
  const exit = await child.exited;
  stopIfAborted(signal);
  const printed: Printed = limit.aborted
    ? { kind: "useless", reason: notInTime("command", timeout_s) }
    : printedOf(check, output, exit);
  return {
    outcome: evaluateCommand(check, printed, performance.now() - started),
    seen: printed.kind === "printed" ? [printed.text] : [],
  };
}

function printedOf({ id, command }: CommandCheckConfig, output: Buffer | null, exit: Exit): Printed {
  if (output === null) {
    return {
      kind: "useless",
      reason: `the command printed more than ${MAX_OUTPUT} bytes: print less`,
    };
  }
  if (NOT_STARTED.has(exit.code)) {
    throw new RunError(
      "tool_missing",
      `the command of check ${id}, ${command[0]}, could not be started (exit code ${exit.code}): it must exist where the sandbox runs`,
    );
  }
  if (exit.code === null) {
    throw new RunError("sandbox_failed", `the command of check ${id} was ended by ${endedWith(exit)}`);
  }
  if (exit.code !== 0) return { kind: "useless", reason: `the command ended with ${endedWith(exit)}` };
  try {
    return { kind: "printed", text: new TextDecoder("utf-8", { fatal: true }).decode(output) };
  } catch {
    return { kind: "useless", reason: "the command's output is not UTF-8" };
  }
}

/**
 * Also ends processes that the program started and that may hold its stdout open. In a container,
 * the container's end stops these.
 */
function killAll(child: Child): void {
  const { pid, stdout } = child;
  stdout.destroy();
  if (pid === 0) return void child.stop();
  try {
    // It leads a process group. No other process gets the group's number while one of its members
    // exists.
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if (errorCode(error) !== "ESRCH" && errorCode(error) !== "EPERM") throw error;
  }
}

/** Null if there is too much output, or if nobody waits for it any longer. */
async function readBounded(stdout: Readable): Promise<Buffer | null> {
  const pieces: Buffer[] = [];
  let length = 0;
  try {
    for await (const piece of stdout as AsyncIterable<Buffer>) {
      length += piece.length;
      if (length > MAX_OUTPUT) return null;
      pieces.push(piece);
    }
  } catch (error) {
    if (errorCode(error) === "ERR_STREAM_PREMATURE_CLOSE") return null;
    throw error;
  }
  return Buffer.concat(pieces);
}
