import { chown, mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { moveFile } from "@attestore/host/durable-files";
import { nullIfMissing } from "@attestore/host/null-if-missing";
import { SERVICE_ROLE } from "../database/roles.ts";
import { UserError } from "../errors/user-error.ts";
import type { Logger } from "../logging/logger.ts";
import { launchCommand } from "./launch.ts";
import type { ClusterLocation } from "./cluster-location.ts";
import { diskFullReason } from "./disk-full.ts";
import { runProgram } from "./run-program.ts";

/** The database's owner and superuser: for migrations and commands. */
export const DATABASE_ROLE = "attestore";
export const DATABASE_NAME = "postgres";
const CLUSTER = "data";
const UNFINISHED = "initdb";

/** The cluster in a data directory's `postgres/`. */
export function clusterDirectory(home: string): string {
  return join(home, CLUSTER);
}

/**
 * Creates the cluster if there is none. initdb works in another directory and syncs it; only then
 * is the directory renamed, so a cluster with the final name is always whole.
 */
export async function ensureCluster(home: string, location: ClusterLocation, log: Logger): Promise<void> {
  const existing = await readVersion(clusterDirectory(home));
  if (existing !== null) {
    await requireVersion(location, existing, clusterDirectory(home));
    return;
  }
  if ((await readdir(home)).includes(CLUSTER)) {
    throw new UserError(
      "data_directory",
      `${clusterDirectory(home)} exists but contains no PostgreSQL cluster (PG_VERSION is missing). Restore it from a backup, or move it away to start with an empty database.`,
    );
  }
  const unfinished = join(home, UNFINISHED);
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { mode: 0o700 });
  if (location.user !== null) await chown(unfinished, location.user.uid, location.user.gid);
  log.info({ directory: clusterDirectory(home) }, "creating the database");
  const { file, args } = launchCommand(location, join(location.binaries, "bin", "initdb"), [
    "--pgdata",
    join(location.home, UNFINISHED),
    "--username",
    DATABASE_ROLE,
    "--auth-local",
    "peer",
    "--auth-host",
    "reject",
    "--encoding",
    "UTF8",
    "--locale",
    "C",
    "--data-checksums",
  ]);
  const result = await runProgram(file, args, { env: location.environment });
  if (result.exitCode !== 0) {
    const reason = (result.stderr.trim() || result.stdout.trim()).split("\n").slice(-3).join(" ");
    throw new UserError(
      "database_unusable",
      `PostgreSQL's initdb failed in ${home}: ${result.startError ?? reason}.${await diskFullReason(home)}`,
    );
  }
  await moveFile(unfinished, clusterDirectory(home));
}

async function readVersion(directory: string): Promise<string | null> {
  return (await nullIfMissing(readFile(join(directory, "PG_VERSION"), "utf8")))?.trim() ?? null;
}

async function requireVersion(location: ClusterLocation, cluster: string, directory: string): Promise<void> {
  const { file, args } = launchCommand(location, join(location.binaries, "bin", "postgres"), ["--version"]);
  const result = await runProgram(file, args, { env: location.environment });
  const server = /\(PostgreSQL\) (\d+)/.exec(result.stdout)?.[1];
  if (server === undefined) {
    throw new UserError(
      "postgres_missing",
      `${location.binaries}/bin/postgres does not run here: ${result.startError ?? result.stderr.trim()}. Set DATABASE_URL, or ATTESTORE_POSTGRES to another PostgreSQL.`,
    );
  }
  if (server === cluster) return;
  throw new UserError(
    "postgres_version",
    `${directory} was created by PostgreSQL ${cluster}, but the PostgreSQL here is ${server}. Nothing was changed. Run attestore-server database upgrade --from DIRECTORY, with the directory of a PostgreSQL ${cluster} (docs/operate.md, "A new major version of PostgreSQL"), or set ATTESTORE_POSTGRES to it.`,
  );
}

/**
 * Who may connect, written before every start: through the socket, root and the user that the
 * service runs as, by the credentials that the kernel vouches for. Not the server's own user, which
 * may be shared with a system's PostgreSQL.
 */
export async function writeAccessRules(home: string): Promise<void> {
  const directory = clusterDirectory(home);
  const names = new Set(["root", userInfo().username]);
  await writeFile(join(directory, "pg_hba.conf"), "local all all peer map=service\n");
  await writeFile(
    join(directory, "pg_ident.conf"),
    [...names]
      .flatMap((name) =>
        [DATABASE_ROLE, SERVICE_ROLE].map((role) => `service "${name.replaceAll('"', "")}" ${role}\n`),
      )
      .join(""),
  );
}
