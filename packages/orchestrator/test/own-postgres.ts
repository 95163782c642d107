import { execFile, spawn, type ChildProcess } from "node:child_process";
import { appendFile, chmod, mkdir, writeFile } from "node:fs/promises";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { freePort } from "../../../tests/e2e/harness/free-port.ts";
import pg from "pg";

const run = promisify(execFile);
/** Debian's: whoever brings a server of their own has one like it. */
const BIN = "/usr/lib/postgresql/15/bin";
const PASSWORD = "superuser";
/** PostgreSQL and PgBouncer refuse root. */
const AS =
  process.geteuid?.() === 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] : ["env"];

/** For tests: a server that is not the service's, over TCP and with passwords. */
export interface OwnPostgres {
  port: number;
  /** As a superuser, in the database `postgres`. */
  url: string;
  /** As a superuser, in that database. */
  query(text: string, database?: string): Promise<pg.QueryResult[]>;
  stop(): Promise<void>;
  /** As a power failure leaves it. */
  crash(): Promise<void>;
}

export async function startOwnPostgres(directory: string): Promise<OwnPostgres> {
  await mkdir(directory);
  const password = join(directory, "password");
  await writeFile(password, PASSWORD);
  await chmod(password, 0o644);
  const data = await dataDirectory(directory);
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
  await runProgram("initdb", made);
  return start(data);
}

/** A copy of that server that follows it, and takes its place after `select pg_promote()`. */
export async function startStandbyOf(primary: OwnPostgres, directory: string): Promise<OwnPostgres> {
  await mkdir(directory);
  const data = await dataDirectory(directory);
  await runProgram("pg_basebackup", ["-d", primary.url, "-D", data, "-R", "-c", "fast", "--no-sync"]);
  return start(data);
}

export interface Pooler {
  url: string;
  stop(): Promise<void>;
}

/** PgBouncer before that server, with one of its ways to pool. */
export async function startPooler(
  { port: behind }: OwnPostgres,
  mode: "session" | "transaction" | "statement",
  directory: string,
): Promise<Pooler> {
  await mkdir(directory);
  const port = await freePort();
  await writeFile(join(directory, "users"), `"postgres" "${PASSWORD}"\n`);
  await writeFile(
    join(directory, "pgbouncer.ini"),
    `[databases]
* = host=127.0.0.1 port=${behind}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${join(directory, "users")}
pool_mode = ${mode}
default_pool_size = 40
`,
  );
  const [command = "", ...prefix] = AS;
  const pooler = spawn(command, [...prefix, "/usr/sbin/pgbouncer", join(directory, "pgbouncer.ini")], {
    stdio: "ignore",
  });
  const url = `postgresql://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`;
  // Pooling of statements knows no more than single ones.
  await untilReady(pooler, () => ask({ connectionString: url }, "select"));
  const stop = async (): Promise<void> => {
    pooler.kill("SIGTERM");
    if (pooler.exitCode === null && pooler.signalCode === null) await once(pooler, "close");
  };
  return { url, stop };
}

async function dataDirectory(directory: string): Promise<string> {
  const data = join(directory, "data");
  await mkdir(data, { mode: 0o700 });
  if (process.geteuid?.() === 0) await run("chown", ["postgres:postgres", data]);
  return data;
}

async function runProgram(name: string, args: string[]): Promise<void> {
  const [command = "", ...prefix] = AS;
  await run(command, [...prefix, join(BIN, name), ...args]);
}

async function start(data: string): Promise<OwnPostgres> {
  const port = await freePort();
  await appendFile(
    join(data, "postgresql.conf"),
    `listen_addresses = '127.0.0.1'\nport = ${port}\nunix_socket_directories = ''\n`,
  );
  const [command = "", ...prefix] = AS;
  const server = spawn(command, [...prefix, join(BIN, "postgres"), "-D", data], { stdio: "ignore" });
  const query = (text: string, database = "postgres"): Promise<pg.QueryResult[]> =>
    ask({ host: "127.0.0.1", port, user: "postgres", password: PASSWORD, database }, text);
  await untilReady(server, query);
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    server.kill(signal);
    if (server.exitCode === null && server.signalCode === null) await once(server, "close");
  };
  const url = `postgresql://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`;
  return { port, url, query, stop: () => end("SIGINT"), crash: () => end("SIGQUIT") };
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
