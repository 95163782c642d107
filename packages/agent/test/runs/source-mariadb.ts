import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { SourceConfigOf } from "../../src/config/source-config.ts";
import { findServerPrograms, type Product } from "../../src/engines/mariadb/connection/programs.ts";
import { openProcessPlace } from "../../src/sandboxes/process/process-place.ts";

export interface SourceMariadb {
  readonly product: Product;
  readonly source: SourceConfigOf<"mariadb" | "mysql">;
  readonly socket: string;
  /** Such as mysql://user:password@localhost/db?socket=… */
  url(user: string, password: string, database?: string): string;
  sql(statements: string): string;
  close(): Promise<void>;
}

/**
 * A real MariaDB to back up, with users and passwords; a real MySQL where that is what the host
 * has. `network`: its arguments for that, where it is to be reached by more than a socket. `made`:
 * those that it is made with, and started.
 */
export async function startSourceMariadb(
  dir: string,
  network: readonly string[] = ["--skip-networking"],
  made: readonly string[] = [],
): Promise<SourceMariadb> {
  const never = new AbortController().signal;
  const place = await openProcessPlace(dir);
  const [data, socket] = [join(place.home, "source"), join(place.sockets, "source")];
  const { server: program, client, installer } = await findServerPrograms("MariaDB");
  const common = ["--no-defaults", `--datadir=${data}`, ...made];
  const install = await place.start({
    ...(installer === null
      ? { command: program.path, args: [...common, "--initialize-insecure"] }
      : {
          command: installer,
          args: [...common, "--auth-root-authentication-method=normal", "--skip-test-db", "--force"],
        }),
    // Servers that start at the same time would delete each other's temporary tables.
    env: { TMPDIR: place.home },
    signal: never,
  });
  install.stdin.end();
  await text(install.stdout);
  const installed = await install.exited;
  if (installed.code !== 0) throw new Error(`no ${program.product}: ${installed.stderr}`);
  const server = await place.start({
    command: program.path,
    args: [
      ...common,
      `--socket=${socket}`,
      `--pid-file=${join(place.home, "source.pid")}`,
      `--secure-file-priv=${place.sockets}`,
      "--loose-mysqlx=OFF",
      // Where else MySQL lets tables lie.
      `--loose-innodb-directories=${dir}`,
      ...network,
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
    product: program.product,
    socket,
    source: {
      slug: "shop",
      engine: program.product === "MariaDB" ? "mariadb" : "mysql",
      sandbox: "process",
      checkTimeout_s: 60,
      checks: [],
      connection: { kind: "env", name: "TEST_MARIADB_URL" },
      databases: null,
    },
    url,
    sql: (statements) =>
      execFileSync(
        client,
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
