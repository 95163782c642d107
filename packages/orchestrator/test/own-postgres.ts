import { execFile, spawn, type ChildProcess } from "node:child_process";
import { appendFile, chmod, mkdir, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";

const run = promisify(execFile);
/** Debian's: whoever brings a server of their own has one like it. */
const BIN = "/usr/lib/postgresql/15/bin";
/** PostgreSQL refuses root. */
const AS =
  process.geteuid?.() === 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] : ["env"];

/** For tests: a server that is not the service's, over TCP and with passwords. */
export interface OwnPostgres {
  port: number;
  /** As a superuser, in that database. */
  query(text: string, database?: string): Promise<pg.QueryResult[]>;
  stop(): Promise<void>;
}

export async function startOwnPostgres(directory: string): Promise<OwnPostgres> {
  await mkdir(directory);
  await writeFile(join(directory, "password"), "superuser");
  await chmod(join(directory, "password"), 0o644);
  const data = join(directory, "data");
  await mkdir(data, { mode: 0o700 });
  if (process.geteuid?.() === 0) await run("chown", ["postgres:postgres", data]);
  const [command = "", ...prefix] = AS;
  const password = join(directory, "password");
  const made = [
    "-D",
    data,
    "-U",
    "postgres",
    "--auth=scram-sha-256",
    `--pwfile=${password}`,
    "--no-sync",
    "--no-locale",
  ];
  await run(command, [...prefix, join(BIN, "initdb"), ...made]);
  const port = await freePort();
  await appendFile(
    join(data, "postgresql.conf"),
    `listen_addresses = '127.0.0.1'\nport = ${port}\nunix_socket_directories = ''\n`,
  );
  const server = spawn(command, [...prefix, join(BIN, "postgres"), "-D", data], { stdio: "ignore" });
  const query = (text: string, database = "postgres"): Promise<pg.QueryResult[]> =>
    ask({ host: "127.0.0.1", port, user: "postgres", password: "superuser", database }, text);
  await untilReady(server, query);
  const stop = async (): Promise<void> => {
    server.kill("SIGINT");
    if (server.exitCode === null) await once(server, "close");
  };
  return { port, query, stop };
}

async function ask(connection: pg.ClientConfig, text: string): Promise<pg.QueryResult[]> {
  const client = new pg.Client(connection);
  client.on("error", () => undefined);
  await client.connect();
  try {
    // pg gives an array where the text has several statements.
    const results: pg.QueryResult | pg.QueryResult[] = await client.query(text);
    return Array.isArray(results) ? results : [results];
  } finally {
    await client.end();
  }
}

async function untilReady(server: ChildProcess, query: (text: string) => Promise<unknown>): Promise<void> {
  for (const until = Date.now() + 60_000; ; await delay(100)) {
    try {
      await query("select");
      return;
    } catch (error) {
      if (server.exitCode !== null || Date.now() > until) throw error;
    }
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
}
