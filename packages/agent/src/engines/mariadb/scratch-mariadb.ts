import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { type Child, endedWith } from "../../processes/child.ts";
import { findProgram, isExecutable } from "../../processes/find-program.ts";
import { CouldNotRun, stopIfAborted } from "../../runs/could-not-run.ts";
import type { Place } from "../../sandboxes/place.ts";
import type { Program } from "./programs.ts";

/** Durability is of no use to what is thrown away. */
const SETTINGS = [
  "--skip-networking",
  "--skip-log-bin",
  "--innodb-flush-log-at-trx-commit=0",
  "--innodb-doublewrite=0",
  "--innodb-buffer-pool-size=256M",
  "--max-allowed-packet=1G",
  "--local-infile=0",
  "--event-scheduler=OFF",
];

export interface ScratchMariadb {
  /** The arguments that let a client in; they hold no secret. */
  readonly connection: readonly string[];
  hasDied(): boolean;
  close(): Promise<void>;
}

/**
 * A server of its own in a place, which from then on belongs to what is returned; on an error it is closed.
 * @throws CouldNotRun
 */
export async function startMariadbIn(
  place: Place,
  server: Program,
  signal: AbortSignal,
): Promise<ScratchMariadb> {
  try {
    const child = await start(place, server, signal);
    let ended = false;
    void child.exited.then(() => (ended = true));
    return {
      connection: ["--no-defaults", `--socket=${socketOf(place)}`, "--user=root"],
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

async function start(place: Place, server: Program, signal: AbortSignal): Promise<Child> {
  await initialise(place, server, signal);
  const child = await place.start({
    command: server.path,
    args: [
      "--no-defaults",
      `--datadir=${dataOf(place)}`,
      `--socket=${socketOf(place)}`,
      `--pid-file=${join(place.home, "pid")}`,
      `--tmpdir=${place.home}`,
      // Where a dump's statements could read and write files, and load code from: there is nothing.
      `--secure-file-priv=${place.sockets}`,
      `--plugin-dir=${place.sockets}`,
      ...SETTINGS,
    ],
    signal,
    diesWithUs: true,
    // There is no quicker way that needs no second signal, and nothing in it is worth an orderly end.
    stopSignal: "SIGKILL",
  });
  child.stdin.end();
  child.stdout.resume();
  const ready = new Promise<boolean>((resolve) => {
    let line = "";
    child.stderr.on("data", (part: string) => {
      const lines = (line + part).split("\n");
      line = (lines.pop() ?? "").slice(-1_000);
      if (lines.some((each) => each.includes("ready for connections"))) resolve(true);
    });
    void child.exited.then(() => resolve(false));
  });
  if (await ready) return child;
  const exit = await child.exited;
  stopIfAborted(signal);
  throw cannotStart("server", endedWith(exit), exit.stderr);
}

async function initialise(place: Place, server: Program, signal: AbortSignal): Promise<void> {
  const common = ["--no-defaults", `--datadir=${dataOf(place)}`];
  const child = await place.start({
    ...(server.product === "MariaDB"
      ? { command: await installerOf(server), args: [...common, ...INSTALLING] }
      : { command: server.path, args: [...common, "--initialize-insecure"] }),
    signal,
  });
  child.stdin.end();
  const [output, exit] = await Promise.all([text(child.stdout), child.exited]);
  stopIfAborted(signal);
  if (exit.code !== 0) throw cannotStart("database directory", endedWith(exit), exit.stderr + output);
}

const INSTALLING = ["--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve"];

async function installerOf(server: Program): Promise<string> {
  const beside = join(dirname(server.path), "mariadb-install-db");
  const found = (await isExecutable(beside)) ? beside : await findProgram("mariadb-install-db");
  if (found !== null) return found;
  throw new CouldNotRun(
    "tool_missing",
    "mariadb-install-db is not installed here: install mariadb-server-core",
  );
}

function cannotStart(what: string, how: string, output: string): CouldNotRun {
  if (/No space left on device|Disk quota exceeded|Errcode: 28|error number 28/.test(output))
    return new CouldNotRun("disk_full", `the scratch directory's file system is full (${what}: ${how})`);
  const lines = output.split("\n").filter((line) => /ERROR|error|FATAL/.test(line));
  return new CouldNotRun(
    "sandbox_failed",
    `the scratch MariaDB's ${what} could not be made: ${how}: ${(lines.at(-1) ?? "no message").slice(0, 300)}`,
  );
}
