import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type Child, endedWith } from "../../../processes/child.ts";
import { sideBySide } from "../../../processes/side-by-side.ts";
import { RunError, stopIfAborted } from "../../../errors/run-error.ts";
import type { ScratchFiles } from "../../scratch-server.ts";
import { writeInPlace } from "../../../sandboxes/isolation/write-in-place.ts";
import type { Place, PlaceProgram } from "../../../sandboxes/place.ts";
import { openProcessPlace } from "../../../sandboxes/process/process-place.ts";
import { MAX_ERRORS } from "../connection/server-error.ts";

const DISK_FULL = "53100";
const SUPERUSER = "attestore";
/**
 * Stands for an error that code of the restored database raised, whatever SQLSTATE that code chose.
 */
const RAISED = "P0001";

/** A server that is thrown away needs no durability. */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: "",
  unix_socket_permissions: "0700",
  fsync: "off",
  full_page_writes: "off",
  synchronous_commit: "off",
  wal_level: "minimal",
  max_wal_senders: "0",
  max_wal_size: "4GB",
  checkpoint_timeout: "1h",
  autovacuum: "off",
  // A JIT needs memory that is both writable and executable, and a hardened unit forbids that.
  jit: "off",
  maintenance_work_mem: "256MB",
  max_locks_per_transaction: "1024",
  // The log contains each error's SQLSTATE and its place in the server's source. Nothing else of an
  // error leaves the server.
  log_destination: "stderr",
  logging_collector: "off",
  log_line_prefix: "%e ",
  log_min_messages: "error",
  log_min_error_statement: "panic",
  log_error_verbosity: "verbose",
};

export interface ScratchPostgres {
  /** Variables with which psql and pg_restore connect. */
  readonly environment: Readonly<Record<string, string>>;
  /** Starts a program in the server's place, in that environment. */
  start(program: PlaceProgram): Promise<Child>;
  readonly files: ScratchFiles;
  /**
   * The SQLSTATEs of the server's own errors so far, oldest first. An error that code of the
   * restored database raised counts as P0001.
   */
  readonly errors: readonly string[];
  /** Whether its disk was full at some time. */
  hasRunFull(): boolean;
  /** Whether the server ended although nobody stopped it. */
  hasDied(): boolean;
  /**
   * Whether one of its processes was killed, as the kernel does when memory runs out. No role that
   * loads a dump can do that.
   */
  wasKilled(): boolean;
  close(): Promise<void>;
}

/**
 * Starts a PostgreSQL of its own in a throw-away directory of this host. Only its user can open its
 * unix socket. If this process dies in any way, the server dies too, and the next run removes the
 * directories.
 * @throws RunError
 */
export async function startScratchPostgres(
  bin: string,
  scratchDir: string,
  signal: AbortSignal,
): Promise<ScratchPostgres> {
  return startPostgresIn(await openProcessPlace(scratchDir), bin, signal);
}

/**
 * Starts it in any place, beside something else that is done there. From then on the place belongs
 * to the returned server; after an error it is closed.
 * @throws RunError, and any error of `meanwhile`
 */
export async function startPostgresIn(
  place: Place,
  bin: string,
  signal: AbortSignal,
  meanwhile: (signal: AbortSignal) => Promise<void> = () => Promise.resolve(),
): Promise<ScratchPostgres> {
  try {
    const [server] = await sideBySide<[Server, void]>(signal, [
      async (within) => {
        await initialise(place, bin, within);
        return start(place, bin, signal);
      },
      meanwhile,
    ]);
    const { child, errors } = server;
    let ended = false;
    void child.exited.then(() => (ended = true));
    const environment = {
      PGHOST: place.sockets,
      PGPORT: "5432",
      PGUSER: SUPERUSER,
      PGDATABASE: "postgres",
    };
    return {
      environment,
      start: (program) => place.start({ ...program, env: { ...environment, ...program.env } }),
      files: {
        directory: place.home,
        write: (path, content, aborted) => writeInPlace(place, join(place.home, path), content, aborted),
      },
      errors,
      hasRunFull: () => errors.includes(DISK_FULL),
      hasDied: () => ended,
      wasKilled: () => server.isKilled,
      close: () => place.close(),
    };
  } catch (error) {
    await place.close();
    stopIfAborted(signal);
    throw error;
  }
}

interface Server {
  readonly child: Child;
  readonly errors: string[];
  /** Whether one of its processes was killed. */
  isKilled: boolean;
}

const dataOf = (place: Place): string => join(place.home, "data");

/** Of initdb, for a cluster in such a directory. */
export const initdbArguments = (data: string): string[] => [
  "--no-sync",
  "--no-locale",
  "--auth=trust",
  "--encoding=UTF8",
  `--username=${SUPERUSER}`,
  `--pgdata=${data}`,
];

async function initialise(place: Place, bin: string, signal: AbortSignal): Promise<void> {
  const initdb = await place.start({
    command: join(bin, "initdb"),
    args: initdbArguments(dataOf(place)),
    signal,
  });
  initdb.stdin.end();
  const [output, exit] = await Promise.all([text(initdb.stdout), initdb.exited]);
  stopIfAborted(signal);
  if (exit.code !== 0)
    throw cannotStart(
      "initdb",
      `${endedWith(exit)}: ${lastLine(exit.stderr + output)}`,
      exit.stderr + output,
    );
}

async function start(place: Place, bin: string, signal: AbortSignal): Promise<Server> {
  // A place without the host's own /dev/shm may have less room there than a parallel index build
  // needs.
  const settings = {
    ...SETTINGS,
    ...(place.kind === "process" ? {} : { dynamic_shared_memory_type: "mmap" }),
  };
  const child = await place.start({
    command: join(bin, "postgres"),
    args: [
      "-D",
      dataOf(place),
      "-k",
      place.sockets,
      ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
    ],
    signal,
    diesWithUs: true,
    // Shut down at once, because nothing in it is worth a checkpoint.
    stopSignal: "SIGQUIT",
  });
  child.stdin.end();
  child.stdout.resume();
  const errors: string[] = [];
  const server: Server = { child, errors, isKilled: false };
  const ready = new Promise<boolean>((resolve) => {
    let line = "";
    // The server begins each of its own lines like this. It indents the further lines of a message.
    const LINE = /^([0-9A-Z]{5}) (ERROR|FATAL|PANIC|LOCATION): +(.{0,40})/;
    let pending = null as string | null;
    child.stderr.on("data", (part: string) => {
      const lines = (line + part).split("\n");
      line = (lines.pop() ?? "").slice(0, 1_000);
      for (const each of lines) {
        const [, sqlstate = "", kind, rest = ""] = LINE.exec(each) ?? [];
        if (kind === "LOCATION") {
          if (errors.length < MAX_ERRORS && pending !== null)
            errors.push(rest.startsWith("exec_stmt_raise, ") ? RAISED : pending);
          pending = null;
        } else if (kind !== undefined) pending = sqlstate;
        if (/^00000 LOG: +00000: database system is ready to accept connections/.test(each)) resolve(true);
        if (/^00000 LOG: +00000: server process \(PID [0-9]+\) was terminated by signal 9:/.test(each))
          server.isKilled = true;
      }
    });
    void child.exited.then(() => resolve(false));
  });
  if (!(await ready)) {
    const exit = await child.exited;
    stopIfAborted(signal);
    throw cannotStart("PostgreSQL", `${endedWith(exit)}: ${lastLine(exit.stderr)}`, exit.stderr);
  }
  return server;
}

function cannotStart(what: string, how: string, output: string): RunError {
  const full = /No space left on device|Disk quota exceeded|File too large/.test(output);
  return new RunError(
    full ? "disk_full" : "sandbox_failed",
    full
      ? `the scratch directory's file system is full (${what} ended with ${how})`
      : `the scratch ${what} ended with ${how}`,
  );
}

function lastLine(output: string): string {
  const lines = output.split("\n").filter((line) => /error|FATAL|PANIC|could not/i.test(line));
  return (lines.at(-1) ?? "no message").slice(0, 300);
}
