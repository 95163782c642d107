import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type Child, endedWith } from "../../processes/child.ts";
import { RunError, stopIfAborted } from "../../errors/run-error.ts";
import type { Place } from "../../sandboxes/place.ts";
import type { ServerPrograms } from "./programs.ts";

/** Durability is of no use to what is thrown away. */
const SETTINGS = [
  "--skip-networking",
  "--skip-log-bin",
  "--innodb-flush-log-at-trx-commit=0",
  "--innodb-doublewrite=0",
  "--max-allowed-packet=1G",
  "--local-infile=0",
  "--event-scheduler=OFF",
  // A table's files stay in the scratch directory, whatever directory it names.
  "--skip-symbolic-links",
  // A source without it has tables that this would refuse, such as those with rows that may become
  // too long.
  "--innodb-strict-mode=OFF",
  // Where code is loaded from: nothing can be there, and nothing that a statement writes can get
  // there.
  "--plugin-dir=/dev/null",
  // MySQL's takes more memory than all that is restored in a small container.
  "--performance-schema=OFF",
  // MySQL's second protocol has a socket of its own where nothing can be written, and is ready
  // before the server is.
  "--loose-mysqlx=OFF",
];

const MAX_BUFFERS_MB = 256;
/** To the client the server may call it something else, such as an error during COMMIT. */
const FULL = /No space left on device|Disk quota exceeded|Errcode: 28|error (?:number )?28\b/;

export interface ScratchMariadb {
  /** The arguments that let a client in; they hold no secret. */
  readonly connection: readonly string[];
  /** Says that its disk was full at some time. */
  hasRunFull(): boolean;
  /** Says that the server is gone although nobody stopped it. */
  hasDied(): boolean;
  close(): Promise<void>;
}

/**
 * A server of its own in a place, which from then on belongs to what is returned; on an error it is closed. Of the memory
 * there it takes an eighth for its buffers, as long as that is no more than it has use for.
 * @throws RunError
 */
export async function startMariadbIn(
  place: Place,
  programs: ServerPrograms,
  memory_mb: number,
  signal: AbortSignal,
): Promise<ScratchMariadb> {
  try {
    await initialise(place, programs, signal);
    const { child, hasRunFull } = await start(place, programs.server.path, memory_mb, signal);
    let ended = false;
    void child.exited.then(() => (ended = true));
    return {
      // The host is said because MYSQL_HOST, and MySQL's login file, which is read whatever the
      // arguments are, may say another.
      connection: [
        "--no-defaults",
        "--host=localhost",
        "--protocol=socket",
        `--socket=${socketOf(place)}`,
        // Unless a later argument says another: this account is only there until `limitAccounts`.
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
  memory_mb: number,
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
      // The one place where a dump's statements could read and write files: there is nothing.
      `--secure-file-priv=${place.sockets}`,
      `--innodb-buffer-pool-size=${Math.min(MAX_BUFFERS_MB, Math.floor(memory_mb / 8))}M`,
      ...SETTINGS,
    ],
    signal,
    diesWithUs: true,
    // There is no quicker way that needs no second signal, and nothing in it is worth an orderly
    // end.
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

async function initialise(
  place: Place,
  { server, installer }: ServerPrograms,
  signal: AbortSignal,
): Promise<void> {
  const common = ["--no-defaults", `--datadir=${dataOf(place)}`];
  const child = await place.start({
    ...(installer === null
      ? { command: server.path, args: [...common, "--initialize-insecure"] }
      : { command: installer, args: [...common, ...INSTALLING] }),
    // A server that starts deletes the temporary tables that it finds in there: in the usual place,
    // those of all other servers.
    env: { TMPDIR: place.home },
    signal,
  });
  child.stdin.end();
  const [output, exit] = await Promise.all([text(child.stdout), child.exited]);
  stopIfAborted(signal);
  if (exit.code !== 0) throw cannotStart("database directory", endedWith(exit), exit.stderr + output);
}

const INSTALLING = [
  "--auth-root-authentication-method=normal",
  "--skip-test-db",
  "--skip-name-resolve",
  // Whatever the name of the host leads to.
  "--force",
];

function cannotStart(what: string, how: string, output: string): RunError {
  if (FULL.test(output))
    return new RunError("disk_full", `the scratch directory's file system is full (${what}: ${how})`);
  // The last line is often no more than "Aborting"; what led to it stands in the first.
  const lines = output.split("\n").filter((line) => /error|fatal/i.test(line) && !line.endsWith("Aborting"));
  const said = lines.slice(0, 3).join("; ") || output.trim().slice(-300) || "no message";
  return new RunError(
    "sandbox_failed",
    `the scratch MariaDB's ${what} could not be made: ${how}: ${said.slice(0, 600)}`,
  );
}
