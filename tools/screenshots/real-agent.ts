import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { attachedHost, type Host } from "../../tests/e2e/harness/host.ts";
import type { Organisation } from "../../tests/e2e/harness/organisation.ts";

/**
 * A host with the real agent and two sources, each backed up and proven; one of them then lost
 * data, and its signing key was changed.
 */
export async function realAgent(org: Organisation): Promise<Host> {
  const host = await attachedHost(org);
  const data = join(host.base, "data");
  mkdirSync(join(data, "contracts"), { recursive: true });
  for (const n of [1, 2, 3])
    writeFileSync(join(data, "contracts", `contract-${n}.txt`), `contract ${n}\n`.repeat(100));
  const path = join(data, "ledger.db");
  write(path, "create table entries (id integer primary key, cents integer not null)");
  write(path, "insert into entries (cents) select value * 7 from generate_series(1, 2500)");
  host.addSources(`  ledger:
    engine: sqlite
    path: ${path}
    checks:
      - { id: has-entries, query: "select count(*) as n from entries", expect: "n >= 2000" }
  contracts:
    engine: files
    path: ${join(data, "contracts")}
`);
  await done(host, "backup", "--source", "contracts");
  await done(host, "restore-test", "--source", "contracts");
  await done(host, "backup", "--source", "ledger");
  await done(host, "restore-test", "--source", "ledger");
  await done(host, "keys", "rotate", "signing", "--yes");
  write(path, "alter table entries add column booked_on text");
  write(path, "create table drafts (id integer primary key, note text)");
  write(path, "delete from entries where id > 1200");
  await done(host, "backup", "--source", "ledger");
  await host.run("restore-test", "--source", "ledger");
  await done(host, "keys", "recovery-kit", "--output", "kit.txt");
  return host;
}

function write(path: string, sql: string): void {
  const database = new DatabaseSync(path);
  database.exec("create table if not exists numbers (value integer primary key)");
  if (sql.includes("generate_series")) {
    database.exec(
      `insert or ignore into numbers with recursive n (i) as (select 1 union all select i + 1 from n where i < 2500) select i from n`,
    );
    database.exec(sql.replace("generate_series(1, 2500)", "numbers"));
  } else database.exec(sql);
  database.close();
}

async function done(host: Host, ...args: string[]): Promise<void> {
  const { code, stdout, stderr } = await host.run(...args);
  if (code !== 0) throw new Error(`attestore ${args.join(" ")}: exit code ${code}\n${stdout}${stderr}`);
}
