import type { DatabaseServer } from "../../../tests/e2e/harness/database.ts";

/** Rows for all tables together, in one step. */
const STEP = 400_000;

/**
 * Makes the database `bench` of that size in MiB, with orders like a shop's. Several tables have
 * different sizes: the second is half as large as the first, the third a third. Each has two
 * indexes more than its key then, and refers to `customers`.
 * @returns its size in MiB
 */
export function fillShop(server: DatabaseServer, wanted_mib: number, tables: number): number {
  server.sql("postgres", "create database bench");
  const names = Array.from({ length: tables }, (_, at) => (at === 0 ? "orders" : `orders_${at + 1}`));
  const shares = names.map((_, at) => 1 / (at + 1));
  const all = shares.reduce((sum, share) => sum + share, 0);
  for (const name of names)
    server.sql(
      "bench",
      `create table ${name} (id bigint primary key, customer int, placed_at timestamptz, status text, total numeric(10, 2), note text, token text)`,
    );
  const size = (): number => Number(server.sql("bench", "select pg_database_size('bench') / 1048576").trim());
  for (let step = 0; size() < wanted_mib; step++)
    for (const [at, name] of names.entries()) {
      const rows = Math.ceil((STEP * (shares[at] ?? 0)) / all);
      server.sql(
        "bench",
        `insert into ${name} select n, (random() * 90000)::int, timestamptz '2026-01-01' + random() * interval '300 days',
           (array['pending', 'paid', 'shipped', 'returned', 'cancelled'])[1 + (random() * 4)::int], (random() * 500)::numeric(10, 2),
           (array['amber', 'basalt', 'cedar', 'delta', 'ember'])[1 + (random() * 4)::int] || ' ' || (random() * 1000)::int, md5(random()::text)
         from generate_series(${step * rows + 1}, ${(step + 1) * rows}) n`,
      );
    }
  if (tables > 1)
    server.sql(
      "bench",
      "create table customers (id int primary key, name text not null); insert into customers select n, 'Customer ' || n from generate_series(0, 90000) n",
    );
  for (const name of names) {
    server.sql("bench", `create index on ${name} (placed_at)`);
    if (tables > 1)
      server.sql(
        "bench",
        `create index on ${name} (customer); alter table ${name} add foreign key (customer) references customers`,
      );
  }
  server.sql("bench", "vacuum analyze");
  return size();
}
