import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "./wait.ts";

/** Debian's PostgreSQL 15: the database of a customer, whose server is none of ours. */
const PROGRAMS = "/usr/lib/postgresql/15/bin";

export interface DatabaseServer {
  /** Where its socket is. */
  home: string;
  /** A connection URL for a database of the server. */
  url: (database: string, user?: string, password?: string) => string;
  /** Runs SQL, throws if it fails, answers what psql prints. */
  sql: (database: string, text: string) => string;
  stop: () => Promise<void>;
}

interface Account {
  uid: number;
  gid: number;
}

function account(name: string): Account {
  const id = (option: string): number => Number(spawnSync("id", [option, name], { encoding: "utf8" }).stdout);
  const [uid, gid] = [id("-u"), id("-g")];
  if (!(uid > 0 && gid > 0)) throw new Error(`there is no account ${name}: tools/setup test`);
  return { uid, gid };
}

/**
 * Starts a server on a socket of its own; PostgreSQL refuses root, so root runs it as postgres. It
 * forgets what it was told when the machine does, unless it is to be `durable`.
 */
export async function startDatabaseServer({ durable = false } = {}): Promise<DatabaseServer> {
  const home = mkdtempSync(join(tmpdir(), "attestore-e2e-database-"));
  const unprivileged = process.getuid?.() === 0 ? account("postgres") : undefined;
  if (unprivileged) chownSync(home, unprivileged.uid, unprivileged.gid);
  const as = unprivileged ?? {};
  const data = join(home, "data");
  const options = ["-A", "trust", "-U", "shop", "-E", "UTF8", "--no-locale", "--no-sync"];
  const made = spawnSync(join(PROGRAMS, "initdb"), ["-D", data, ...options], {
    ...as,
    cwd: home,
    encoding: "utf8",
  });
  if (made.status !== 0) throw new Error(`initdb: ${made.error?.message ?? made.stderr}`);
  const settings = ["-c", "listen_addresses="];
  if (!durable) settings.push("-c", "fsync=off", "-c", "synchronous_commit=off");
  const server = spawn(join(PROGRAMS, "postgres"), ["-D", data, "-k", home, ...settings], {
    ...as,
    cwd: home,
    stdio: "ignore",
  });
  const url = (database: string, user = "shop", password?: string): string =>
    `postgresql://${user}${password === undefined ? "" : `:${password}`}@/${database}?host=${encodeURIComponent(home)}`;
  const psql = (database: string, text: string) =>
    spawnSync(join(PROGRAMS, "psql"), ["-X", "-qAt", "-v", "ON_ERROR_STOP=1", "-d", url(database)], {
      input: text,
      encoding: "utf8",
    });
  const stop = async (): Promise<void> => {
    const ended = once(server, "close");
    if (server.exitCode === null && server.kill("SIGQUIT")) await ended;
    rmSync(home, { recursive: true, force: true });
  };
  try {
    await until("the database server answers", () => psql("postgres", "select 1").status === 0, 30);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    home,
    url,
    sql: (database, text) => {
      const { status, stdout, stderr } = psql(database, text);
      if (status !== 0) throw new Error(`psql: ${stderr}`);
      return stdout;
    },
    stop,
  };
}

/**
 * Text that stands in every row of a test's data: found again in a file, it is plaintext that was
 * left there.
 */
export const MARKER = "plaintext-marker-7f3a9c";

/** A small shop, in a database of its own, which CREATE DATABASE makes with the `options`. */
export function createShop(
  server: DatabaseServer,
  name: string,
  { orders = 2000, options = "" }: { orders?: number; options?: string } = {},
): void {
  server.sql("postgres", `create database ${name} ${options}`);
  server.sql(
    name,
    `
    create table customers (id int primary key, name text not null, email text not null unique);
    create table orders (
      id int primary key,
      customer_id int not null references customers,
      placed_at timestamptz not null,
      note text not null
    );
    create index orders_by_day on orders (placed_at);
    create view recent as select * from orders where placed_at > now() - interval '7 days';
    insert into customers select n, 'Customer ' || n, n || '@example.org' from generate_series(1, 200) n;
    insert into orders
      select n, 1 + n % 200, now() - n * interval '1 minute', '${MARKER} ' || md5(n::text)
      from generate_series(1, ${orders}) n;
    `,
  );
}
