import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { findInstallations } from "../../src/engines/postgresql/connection/installations.ts";
import type { SourceConfigOf } from "../../src/config/source-config.ts";
import { startScratchPostgres } from "../../src/engines/postgresql/sandbox/scratch-postgres.ts";

export interface SourcePostgres {
  readonly source: SourceConfigOf<"postgresql">;
  /** Where PostgreSQL's own programs are. */
  readonly bin: string;
  /** What lets PostgreSQL's own programs in. */
  readonly environment: Readonly<Record<string, string>>;
  /** Such as postgresql://user:password@/db?host=… */
  url(user: string, password: string, database?: string): string;
  sql(text: string): string;
  close(): Promise<void>;
}

/** A real PostgreSQL to back up. `superuser`: its first one, if not `attestore` as in a sandbox. */
export async function startSourcePostgres(dir: string, superuser?: string): Promise<SourcePostgres> {
  const [installation] = await findInstallations(["postgres", "initdb", "pg_dump"]);
  if (installation === undefined) throw new Error("no PostgreSQL is installed: run tools/setup test");
  const server = await startScratchPostgres(installation.bin, dir, new AbortController().signal);
  const run = (text: string, user: string | undefined): string =>
    execFileSync(join(installation.bin, "psql"), ["-XqAt", "-v", "ON_ERROR_STOP=1"], {
      env: { ...process.env, ...server.environment, PGUSER: user },
      input: text,
      encoding: "utf8",
    }).trim();
  const first = server.environment["PGUSER"];
  if (superuser !== undefined) {
    // Nobody can rename the role as which they are connected.
    run("create role renaming superuser login", first);
    run(`alter role ${first} rename to ${superuser}`, "renaming");
    run("drop role renaming", superuser);
  }
  const environment = { ...server.environment, PGUSER: superuser ?? first ?? "" };
  const url = (user: string, password: string, database = "postgres"): string =>
    `postgresql://${user}:${password}@/${database}?host=${encodeURIComponent(server.environment["PGHOST"] ?? "")}`;
  process.env["TEST_SOURCE_URL"] = url(environment.PGUSER, "");
  return {
    bin: installation.bin,
    environment,
    source: {
      slug: "orders",
      engine: "postgresql",
      sandbox: "process",
      checkTimeout_s: 60,
      checks: [],
      connection: { kind: "env", name: "TEST_SOURCE_URL" },
      databases: null,
      globals: false,
      jobs: 1,
    },
    url,
    sql: (text) => run(text, environment.PGUSER),
    close: () => server.close(),
  };
}
