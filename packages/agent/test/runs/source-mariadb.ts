import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { SourceConfigOf } from "../../src/root/source-config.ts";
import { openProcessPlace } from "../../src/sandboxes/process/process-place.ts";

export interface SourceMariadb {
  readonly source: SourceConfigOf<"mariadb">;
  /** Such as mysql://user:password@localhost/db?socket=… */
  url(user: string, password: string, database?: string): string;
  sql(statements: string): string;
  close(): Promise<void>;
}

/** A real MariaDB to back up, with users and passwords. */
export async function startSourceMariadb(dir: string): Promise<SourceMariadb> {
  const never = new AbortController().signal;
  const place = await openProcessPlace(dir);
  const [data, socket] = [join(place.home, "source"), join(place.sockets, "source")];
  const install = await place.start({
    command: "mariadb-install-db",
    args: [
      "--no-defaults",
      `--datadir=${data}`,
      "--auth-root-authentication-method=normal",
      "--skip-test-db",
    ],
    // Servers that start at the same time would delete each other's temporary tables.
    env: { TMPDIR: place.home },
    signal: never,
  });
  install.stdin.end();
  await text(install.stdout);
  const installed = await install.exited;
  if (installed.code !== 0) throw new Error(`no MariaDB (run tools/setup test): ${installed.stderr}`);
  const server = await place.start({
    command: "/usr/sbin/mariadbd",
    args: [
      "--no-defaults",
      `--datadir=${data}`,
      `--socket=${socket}`,
      `--pid-file=${join(place.home, "source.pid")}`,
      "--skip-networking",
      "--innodb-flush-log-at-trx-commit=0",
      "--innodb-buffer-pool-size=64M",
    ],
    env: { TMPDIR: place.home },
    signal: never,
    diesWithUs: true,
    stopSignal: "SIGKILL",
  });
  server.stdin.end();
  server.stdout.resume();
  let log = "";
  while (!log.includes("ready for connections")) {
    const [part] = (await once(server.stderr, "data")) as [string];
    log += part;
  }
  const url = (user: string, password: string, database = "shop"): string =>
    `mysql://${user}:${encodeURIComponent(password)}@localhost/${database}?socket=${encodeURIComponent(socket)}`;
  process.env["TEST_MARIADB_URL"] = url("root", "");
  return {
    source: {
      slug: "shop",
      engine: "mariadb",
      sandbox: "process",
      checkTimeout_s: 60,
      checks: [],
      connection: { kind: "env", name: "TEST_MARIADB_URL" },
      databases: null,
    },
    url,
    sql: (statements) =>
      execFileSync(
        "mariadb",
        [
          "--no-defaults",
          `--socket=${socket}`,
          "--user=root",
          "--batch",
          "--skip-column-names",
          "--default-character-set=utf8mb4",
        ],
        { input: statements, encoding: "utf8" },
      ).trim(),
    close: () => place.close(),
  };
}
