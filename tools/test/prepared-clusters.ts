import { execFile } from "node:child_process";
import { chmod, chown, mkdir, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import type { Vite } from "vitest/node";
import { initdbArguments } from "../../packages/agent/src/engines/postgresql/sandbox/scratch-postgres.ts";
import { findInstallations } from "../../packages/agent/src/engines/postgresql/connection/installations.ts";
import { findServerPrograms } from "../../packages/agent/src/engines/mariadb/connection/programs.ts";
import { installerArguments } from "../../packages/agent/src/engines/mariadb/sandbox/scratch-mariadb.ts";
import { unprivilegedUser } from "../../packages/agent/src/processes/unprivileged-user.ts";

const run = promisify(execFile);

/** Beside the agent's bundle: a restore's sandbox sees that directory and no other of ours. */
const DIRECTORY = "clusters";

/**
 * What makes an empty database cluster (initdb, mariadb-install-db), by its path, and the name of
 * the program in `DIRECTORY` that copies what it made.
 */
export type PreparedClusters = Readonly<Record<string, string>>;

/**
 * Makes an empty cluster of each installed PostgreSQL, and one of MariaDB: the tests of restores
 * make a hundred of each, and to copy one takes a fifth of the processor time. `programs`: the
 * directory with the agent's bundle.
 */
export async function prepareClusters(programs: string): Promise<PreparedClusters> {
  const directory = join(programs, DIRECTORY);
  await mkdir(directory);
  const postgres = await findInstallations(["postgres", "initdb"]);
  const mariadb = await findServerPrograms("MariaDB").catch(() => null);
  const makers: [path: string, args: (data: string) => readonly string[]][] = postgres.map(({ bin }) => [
    join(bin, "initdb"),
    initdbArguments,
  ]);
  if (mariadb !== null && mariadb.installer !== null) makers.push([mariadb.installer, installerArguments]);
  const made = makers.map(async ([path, args], index): Promise<[string, string]> => {
    const name = `${basename(path)}-${index}`;
    await prepare(join(directory, name), path, args);
    return [path, name];
  });
  return Object.fromEntries(await Promise.all(made));
}

async function prepare(
  program: string,
  maker: string,
  args: (data: string) => readonly string[],
): Promise<void> {
  const home = `${program}.made`;
  const user = await unprivilegedUser();
  await mkdir(home);
  if (user !== null) await chown(home, user.uid, user.gid);
  const [made, data] = [join(home, "made"), join(home, "data")];
  await run(maker, [...args(made)], {
    cwd: "/",
    env: { ...process.env, TMPDIR: home },
    ...(user === null ? {} : { uid: user.uid, gid: user.gid }),
  });
  // Both write logs that are zeros for the most part, MariaDB's of 96 MiB: a copy keeps its holes.
  await run("cp", ["-a", "--sparse=always", made, data]);
  await rm(made, { recursive: true });
  // Whoever runs the sandbox's programs may read it, and none of them may write to it.
  if (user !== null) await run("chown", ["-R", "0:0", home]);
  await run("chmod", ["-R", "u+rwX,go=rX", home]);
  const asked = args("").map((each) => ` ${each}`);
  await writeFile(program, copyingProgram(maker, basename(home), asked.join("")));
  await chmod(program, 0o755);
}

/** Asked for anything else than what was made, it starts the real program. */
const copyingProgram = (maker: string, made: string, asked: string): string => `#!/bin/sh
set -eu
asked= data=
for each in "$@"; do
  case $each in
    --pgdata=* | --datadir=*)
      data=\${each#*=}
      each=\${each%%=*}= ;;
  esac
  asked="$asked $each"
done
if [ "$asked" != '${asked}' ] || [ -e "$data" ]; then exec '${maker}' "$@"; fi
umask 077
exec cp -R "\${0%/*}/${made}/data" "$data"
`;

/** What is replaced in the agent's sources, each once, as a test loads them. */
const CALLS: Readonly<Record<string, readonly [call: string, program: string]>> = {
  "/packages/agent/src/engines/postgresql/sandbox/scratch-postgres.ts": [
    'command: join(bin, "initdb")',
    'join(bin, "initdb")',
  ],
  "/packages/agent/src/engines/mariadb/sandbox/scratch-mariadb.ts": ["command: installer", "installer"],
};

/**
 * For tests that call the agent's functions in their own process: scratch servers start on a copy
 * of an empty cluster. The agent's bundle, which all other tests start, is as it ships.
 */
export const clustersAreCopied: Vite.Plugin = {
  name: "clusters-are-copied",
  transform(code, id) {
    const [, replaced] = Object.entries(CALLS).find(([end]) => id.endsWith(end)) ?? [];
    if (replaced === undefined) return null;
    const [call, program] = replaced;
    if (code.split(call).length !== 2) throw new Error(`${id} no longer has "${call}" once`);
    const maker = JSON.stringify(join(import.meta.dirname, "cluster-maker.ts"));
    return `import { clusterMaker } from ${maker};\n${code.replace(call, `command: clusterMaker(place, ${program})`)}`;
  },
};
