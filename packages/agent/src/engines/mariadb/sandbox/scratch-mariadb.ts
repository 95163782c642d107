import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type Child, endedWith } from "../../../processes/child.ts";
import { RunError, stopIfAborted } from "../../../errors/run-error.ts";
import type { Place } from "../../../sandboxes/place.ts";
import type { ServerPrograms } from "../connection/programs.ts";
import { type ServerSettings, settingArguments } from "../connection/server-settings.ts";

/** Everything in this server is thrown away, so it needs no durability. */
const SETTINGS = [
  "--skip-networking",
  "--skip-log-bin",
  "--innodb-flush-log-at-trx-commit=0",
  "--innodb-doublewrite=0",
  "--max-allowed-packet=1G",
  "--local-infile=0",
  "--event-scheduler=OFF",
  // Keep a table's files in the scratch directory, even if the table names another one.
  "--skip-symbolic-links",
  // A source without this mode may have tables that the mode refuses, such as those whose rows may
  // become too long.
  "--innodb-strict-mode=OFF",
  // MySQL 8.4 and newer refuse such keys by default, and keep those that a server had before.
  "--loose-restrict-fk-on-non-standard-key=OFF",
  // The server loads code from here: nothing can be here, and no statement can write here.
  "--plugin-dir=/dev/null",
  // In a small container, MySQL's needs more memory than everything that is restored.
  "--performance-schema=OFF",
  // MySQL's second protocol puts its socket where nothing can be written, and it reports that it is
  // ready before the server is.
  "--loose-mysqlx=OFF",
];

const MAX_BUFFERS_MB = 256;
/** The server prints this. The client may get another error, such as one during COMMIT. */
const FULL = /No space left on device|Disk quota exceeded|Errcode: 28|error (?:number )?28\b/;

export interface ScratchSettings extends ServerSettings {
  /** Of the place; infinite on the host. */
  readonly memory_mb: number;
}

export interface ScratchMariadb {
  /** The client's arguments for connecting. They contain no secret. */
  readonly connection: readonly string[];
  /** Whether the disk was full at some time. */
  hasRunFull(): boolean;
  /** Whether the server has ended. Before `close`, that means that it died. */
  hasDied(): boolean;
  close(): Promise<void>;
}

/**
 * Starts a server of its own in a place. Closing what it returns closes the place; after an error
 * the place is closed. The server uses an eighth of the memory for its buffers, and 256 MiB at
 * most.
 * @throws RunError
 */
export async function startMariadbIn(
  place: Place,
  programs: ServerPrograms,
  settings: ScratchSettings,
  signal: AbortSignal,
): Promise<ScratchMariadb> {
  try {
    await initialise(place, programs, settingArguments(settings), signal);
    const { child, hasRunFull } = await start(place, programs.server.path, settings, signal);
    let ended = false;
    void child.exited.then(() => (ended = true));
    return {
      // Name the host: MYSQL_HOST may name another, and so may MySQL's login file, which is read
      // whatever the arguments are.
      connection: [
        "--no-defaults",
        "--host=localhost",
        "--protocol=socket",
        `--socket=${socketOf(place)}`,
        // A later argument may name another account. This one only exists until `limitAccounts`.
        "--user=root",
      ],
      hasRunFull,
      hasDied: () => ended,
      close: () => place.close(),
    };
  } catch (error) {
    await place.close();
    stopIfAborted(signal);
    throw error;
  }
}

const socketOf = (place: Place): string => join(place.sockets, "s");
const dataOf = (place: Place): string => join(place.home, "data");

async function start(
  place: Place,
  command: string,
  settings: ScratchSettings,
  signal: AbortSignal,
): Promise<{ child: Child; hasRunFull: () => boolean }> {
  const child = await place.start({
    command,
    args: [
      "--no-defaults",
      `--datadir=${dataOf(place)}`,
      `--socket=${socketOf(place)}`,
      `--pid-file=${join(place.home, "pid")}`,
      `--tmpdir=${place.home}`,
      // The only directory where statements of a dump could read and write files. It contains none.
      `--secure-file-priv=${place.sockets}`,
      `--innodb-buffer-pool-size=${Math.min(MAX_BUFFERS_MB, Math.floor(settings.memory_mb / 8))}M`,
      ...SETTINGS,
      ...settingArguments(settings),
    ],
    signal,
    diesWithUs: true,
    // This is the fastest way to end it, and nothing in it is worth an orderly end.
    stopSignal: "SIGKILL",
  });
  child.stdin.end();
  child.stdout.resume();
  let isFull = false;
  const ready = new Promise<boolean>((resolve) => {
    let line = "";
    child.stderr.on("data", (part: string) => {
      const lines = (line + part).split("\n");
      line = (lines.pop() ?? "").slice(-1_000);
      isFull ||= lines.some((each) => FULL.test(each));
      if (lines.some((each) => each.includes("ready for connections"))) resolve(true);
    });
    void child.exited.then(() => resolve(false));
  });
  if (await ready) return { child, hasRunFull: () => isFull };
  const exit = await child.exited;
  stopIfAborted(signal);
  throw cannotStart("server", endedWith(exit), exit.stderr);
}

const inDirectory = (data: string): string[] => ["--no-defaults", `--datadir=${data}`];

/** Of mariadb-install-db, for such a data directory. */
export const installerArguments = (data: string): string[] => [
  ...inDirectory(data),
  "--auth-root-authentication-method=normal",
  "--skip-test-db",
  "--skip-name-resolve",
  // Continue even if the host's name cannot be resolved.
  "--force",
];

async function initialise(
  place: Place,
  { server, installer }: ServerPrograms,
  own: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const data = dataOf(place);
  const child = await place.start({
    ...(installer === null
      ? { command: server.path, args: [...inDirectory(data), "--initialize-insecure", ...own] }
      : { command: installer, args: [...installerArguments(data), ...own] }),
    // At its start, a server deletes the temporary tables in this directory. In the usual one, they
    // belong to other servers.
    env: { TMPDIR: place.home },
    signal,
  });
  child.stdin.end();
  const [output, exit] = await Promise.all([text(child.stdout), child.exited]);
  stopIfAborted(signal);
  if (exit.code !== 0) throw cannotStart("database directory", endedWith(exit), exit.stderr + output);
}

function cannotStart(what: string, how: string, output: string): RunError {
  if (FULL.test(output))
    return new RunError("disk_full", `the scratch directory's file system is full (${what}: ${how})`);
  // The last line is often just "Aborting", and the first ones say why.
  const lines = output.split("\n").filter((line) => /error|fatal/i.test(line) && !line.endsWith("Aborting"));
  const said = lines.slice(0, 3).join("; ") || output.trim().slice(-300) || "no message";
  return new RunError(
    "sandbox_failed",
    `the scratch MariaDB's ${what} could not be made: ${how}: ${said.slice(0, 600)}`,
  );
}
