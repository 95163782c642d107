import { access, readdir } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { UserError } from "../errors/user-error.ts";
import { locatePackage } from "./binaries.ts";
import { runProgram } from "./run-program.ts";

/** Debian's and its relatives' place for several versions beside each other. */
const SYSTEM = "/usr/lib/postgresql";

/** `pg_dump` and `pg_restore` of one PostgreSQL. */
export interface ClientPrograms {
  /** Paths. */
  dump: string;
  restore: string;
  /** As `pg_dump --version` says it, such as 18.4. */
  version: string;
}

export interface WhereToLook {
  /** ATTESTORE_POSTGRES_CLIENT: only there, if it is set. */
  client?: string | undefined;
  /** ATTESTORE_POSTGRES */
  postgres?: string | undefined;
}

/**
 * Finds programs that can dump a server of this major version: PostgreSQL's own refuse a server
 * that is newer than they are. The lowest version that is enough, so that the dump loads into most
 * servers.
 * @throws UserError `postgres_missing` that says what to install
 */
export async function findClientPrograms(where: WhereToLook, serverMajor: number): Promise<ClientPrograms> {
  const found: { programs: ClientPrograms; major: number }[] = [];
  for (const directory of new Set(await directories(where))) {
    const programs = await programsIn(directory);
    if (programs !== null) found.push({ programs, major: Number.parseInt(programs.version, 10) });
  }
  const [fit] = found
    .filter(({ major }) => major >= serverMajor)
    .toSorted((one, other) => one.major - other.major);
  if (fit !== undefined) return fit.programs;
  const seen =
    found.length === 0
      ? "there is none here"
      : `those here are of ${found.map(({ programs }) => programs.version).join(", ")}`;
  throw new UserError(
    "postgres_missing",
    `pg_dump and pg_restore of PostgreSQL ${serverMajor} or newer are needed, and ${seen}. Install them (such as postgresql-client-${serverMajor} from apt.postgresql.org), and set ATTESTORE_POSTGRES_CLIENT to their directory if it is not in PATH.`,
  );
}

async function directories({ client, postgres }: WhereToLook): Promise<string[]> {
  if (client !== undefined) return [client, join(client, "bin")];
  const own = locatePackage();
  const versions = (await readdir(SYSTEM).catch(() => [])).filter((name) => /^\d+$/.test(name));
  return [
    ...(postgres === undefined ? [] : [join(postgres, "bin")]),
    ...(own === null ? [] : [join(own, "bin")]),
    ...(process.env["PATH"] ?? "").split(delimiter).filter((path) => path.startsWith("/")),
    ...versions.map((version) => join(SYSTEM, version, "bin")),
  ];
}

async function programsIn(directory: string): Promise<ClientPrograms | null> {
  const programs = { dump: join(directory, "pg_dump"), restore: join(directory, "pg_restore") };
  try {
    await Promise.all([access(programs.dump), access(programs.restore)]);
  } catch {
    return null;
  }
  const { stdout } = await runProgram(programs.dump, ["--version"], { env: {} });
  const version = /\(PostgreSQL\) (\d+(?:\.\d+)*)/.exec(stdout)?.[1];
  return version === undefined ? null : { ...programs, version };
}
