import { randomBytes } from "node:crypto";
import { text } from "node:stream/consumers";
import { endedWith, type Exit } from "../../../processes/child.ts";
import { feed } from "../../../processes/feed.ts";
import { RunError, stopIfAborted } from "../../../errors/run-error.ts";
import { captureTail } from "../../capture-tail.ts";
import type { ScratchServer } from "../../scratch-server.ts";

const ARGUMENTS = [
  "--no-psqlrc",
  "--quiet",
  "--no-password",
  "--output=/dev/null",
  "--set=VERBOSITY=verbose",
];

export interface RestrictedRun {
  readonly database: string;
  /** The role that runs it, if it is not the server's own. */
  readonly role?: string;
  /** Whether the first error ends it. */
  readonly stopsOnError: boolean;
  readonly signal: AbortSignal;
  /** Called with each line of psql's stderr. A line may quote data. */
  readonly onErrorLine?: (line: string) => void;
}

/**
 * Runs foreign SQL in psql, which has commands of its own: `\!` runs a shell. After `\restrict`
 * with a key that nobody else knows, psql accepts none of them (CVE-2025-8714).
 * @returns how psql ended, and the end of the SQL
 * @throws RunError `tool_too_old` if psql does not know `\restrict`; any error from the content.
 */
export async function runRestrictedSql(
  server: ScratchServer,
  content: AsyncIterable<Buffer>,
  { database, role, stopsOnError, signal, onErrorLine }: RestrictedRun,
): Promise<{ exit: Exit; end: string }> {
  await requireRestrict(server, signal);
  const child = await server.run("psql", {
    args: [...ARGUMENTS, `--set=ON_ERROR_STOP=${stopsOnError ? 1 : 0}`],
    env: { PGDATABASE: database, PGCLIENTENCODING: "UTF8", ...(role === undefined ? {} : { PGUSER: role }) },
    isFed: true,
    signal,
  });
  child.stdout.resume();
  let line = "";
  child.stderr.on("data", (part: string) => {
    const lines = (line + part).split("\n");
    line = (lines.pop() ?? "").slice(0, 10_000);
    for (const each of lines) onErrorLine?.(each);
  });
  const key = randomBytes(24).toString("hex");
  const held = captureTail(withoutOwnRestriction(content));
  try {
    await feed(
      child.stdin,
      (async function* () {
        yield Buffer.from(`\\restrict ${key}\n`);
        yield* held.content;
      })(),
    );
  } catch (error) {
    await child.stop();
    throw error;
  }
  const exit = await child.exited;
  stopIfAborted(signal);
  return { exit, end: held.last() };
}

async function requireRestrict(server: ScratchServer, signal: AbortSignal): Promise<void> {
  const child = await server.run("psql", { args: [...ARGUMENTS, "--set=ON_ERROR_STOP=1"], signal });
  child.stdin.end("\\restrict known\n\\unrestrict known\n");
  const [, exit] = await Promise.all([text(child.stdout), child.exited]);
  stopIfAborted(signal);
  if (exit.code === 0) return;
  throw new RunError(
    "tool_too_old",
    `the psql of PostgreSQL ${server.runtime.engine_version} here (${endedWith(exit)}) cannot stop a dump from running commands: install its newest minor version`,
  );
}

const HEAD_BYTES = 4096;
const TAIL_BYTES = 512;
const FIRST = /^((?:--[^\n]*\n|[ \t\r]*\n)*)\\restrict ([A-Za-z0-9]{1,256})\n/;

const LAST = /(^|\n)\\unrestrict ([A-Za-z0-9]{1,256})\s*$/;

/**
 * Leaves out the two lines with which a dump itself restricts psql: the first that is no comment,
 * and the last. After that, another dump may follow. Such a line anywhere else stays, and psql
 * refuses it.
 */
async function* withoutOwnRestriction(
  content: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  let held: Buffer = Buffer.alloc(0);
  let isHead = true;
  let key: string | null = null;
  const begun = (bytes: Buffer): Buffer => {
    isHead = false;
    const match = FIRST.exec(bytes.toString("latin1", 0, HEAD_BYTES));
    key = match?.[2] ?? null;
    return match === null
      ? bytes
      : Buffer.concat([Buffer.from(match[1] ?? "", "latin1"), bytes.subarray(match[0].length)]);
  };
  function* passed(isAll: boolean): Generator<Buffer, void, undefined> {
    while (isAll || !isHead || held.length >= HEAD_BYTES) {
      if (isHead) held = begun(held);
      const last = `\n\\unrestrict ${key ?? ""}\n`;
      const at = key === null ? -1 : held.indexOf(last);
      const cut = at === -1 ? Math.max(0, held.length - TAIL_BYTES) : at + 1;
      if (cut > 0) yield held.subarray(0, cut);
      held = Buffer.from(held.subarray(at === -1 ? cut : at + last.length));
      if (at === -1) return;
      isHead = true;
    }
  }
  for await (const piece of content) {
    held = Buffer.concat([held, piece]);
    yield* passed(false);
  }
  yield* passed(true);
  yield Buffer.from(
    held.toString("latin1").replace(LAST, (line, before: string, last) => (last === key ? before : line)),
    "latin1",
  );
}
