import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { goOn, startChild } from "../run/children.ts";
import { StepFailed } from "./story.ts";

/**
 * The newest PostgreSQL server that Debian's layout or PATH has, as its directory of programs; null
 * without one.
 */
export function findPostgres(): string | null {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).toSorted((a, b) => Number(b) - Number(a)) : [];
  const directories = [
    ...versions.map((version) => join(debian, version, "bin")),
    ...(process.env["PATH"] ?? "").split(":"),
  ];
  return (
    directories.find((directory) =>
      ["initdb", "postgres", "pg_dump", "psql"].every((name) => existsSync(join(directory, name))),
    ) ?? null
  );
}

/** The shop's PostgreSQL server, a throw-away one beside any that the machine has. */
export interface Shop {
  url: string;
  orders: number;
  stop: () => Promise<void>;
}

const ORDERS = 20_000;

const SHOP_SQL = `
create table customers (id int primary key, name text not null, email text not null unique, since date not null);
create table products (id int primary key, name text not null, price numeric(8, 2) not null check (price > 0));
create table orders (
  id int primary key,
  customer_id int not null references customers,
  placed_at timestamptz not null,
  status text not null check (status in ('open', 'paid', 'shipped'))
);
create table order_lines (
  order_id int references orders,
  product_id int references products,
  quantity int not null check (quantity > 0),
  primary key (order_id, product_id)
);
create index orders_by_day on orders (placed_at);
insert into customers
  select n, 'Customer ' || n, 'customer' || n || '@example.org', date '2020-01-01' + n % 2000 from generate_series(1, 2000) n;
insert into products select n, 'Product ' || n, 1 + n % 90 + 0.99 from generate_series(1, 300) n;
insert into orders
  select n, 1 + n * 7919 % 2000, now() - n * interval '20 minutes', (array['shipped', 'paid', 'open'])[1 + n % 3]
  from generate_series(1, ${ORDERS}) n;
insert into order_lines
  select o, 1 + (o * 31 + k * 97) % 300, 1 + (o + k) % 4 from generate_series(1, ${ORDERS}) o, generate_series(1, 3) k;
`;

/** Starts a PostgreSQL server on a socket of its own and fills it with a small shop. */
export async function openShop(programs: string): Promise<Shop> {
  const home = mkdtempSync("/tmp/attestore-shop-");
  const account = accountFor(home);
  const data = join(home, "data");
  const initdb = spawnSync(
    join(programs, "initdb"),
    ["-D", data, "-A", "trust", "-U", "shop", "-E", "UTF8", "--no-locale", "--no-sync"],
    {
      ...account,
      cwd: home,
      encoding: "utf8",
    },
  );
  if (initdb.status !== 0) throw new StepFailed(`initdb failed: ${initdb.stderr}`);
  const server = startChild(
    join(programs, "postgres"),
    ["-D", data, "-k", home, "-c", "listen_addresses="],
    { ...account, cwd: home, stdio: "ignore" },
    "SIGINT",
  );
  const stop = async (): Promise<void> => {
    const ended = once(server, "close");
    if (server.exitCode === null && server.kill("SIGINT")) await ended;
    rmSync(home, { recursive: true, force: true });
  };
  const url = `postgresql://shop@/postgres?host=${encodeURIComponent(home)}`;
  try {
    const psql = ["-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", url];
    while (spawnSync(join(programs, "psql"), [...psql, "-c", "select 1"]).status !== 0) {
      goOn();
      if (server.exitCode !== null) throw new StepFailed("the shop's PostgreSQL did not start");
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const fill = spawnSync(join(programs, "psql"), psql, { input: SHOP_SQL, encoding: "utf8" });
    if (fill.status !== 0) throw new StepFailed(`filling the shop failed: ${fill.stderr}`);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, orders: ORDERS, stop };
}

/**
 * PostgreSQL refuses to run as root: the `postgres` account that its Debian package makes, else
 * `nobody`.
 */
function accountFor(home: string): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  for (const name of ["postgres", "nobody"]) {
    const uid = Number(spawnSync("id", ["-u", name], { encoding: "utf8" }).stdout);
    const gid = Number(spawnSync("id", ["-g", name], { encoding: "utf8" }).stdout);
    if (uid > 0 && gid > 0) {
      chownSync(home, uid, gid);
      return { uid, gid };
    }
  }
  throw new StepFailed(
    "PostgreSQL does not run as root, and there is neither a postgres nor a nobody account",
  );
}

/** Fills a SQLite file with the shop's invoices; answers how many. */
export function writeInvoices(path: string): number {
  const database = new DatabaseSync(path);
  database.exec(`
    create table invoices (number text primary key, customer text not null, issued_on text not null, cents integer not null);
    with recursive n (i) as (select 1 union all select i + 1 from n where i < 5000)
    insert into invoices
      select printf('2026-%05d', i), 'Customer ' || (1 + i % 2000), date('2026-01-01', '+' || (i % 320) || ' days'), 500 + i * 37 % 90000 from n;
  `);
  database.close();
  return 5000;
}
