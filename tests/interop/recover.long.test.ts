import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { recoverySteps } from "../../packages/dashboard/src/pages/backups/recovery-commands.ts";
import { createShop, startDatabaseServer, type DatabaseServer } from "../e2e/harness/database.ts";
import { initRestic } from "../../packages/agent/test/runs/restic-repository.ts";
import { type SourceMariadb, startSourceMariadb } from "../../packages/agent/test/runs/source-mariadb.ts";
import { type SourceMongodb, startSourceMongodb } from "../../packages/agent/test/runs/source-mongodb.ts";
import { attachedHost, type Host, type StoredReceipt } from "../e2e/harness/host.ts";
import { createOrganisation } from "../e2e/harness/organisation.ts";
import { startServer, type Server } from "../e2e/harness/server.ts";

/**
 * docs/recover.md, its own commands on real backups, with the service stopped and the agent's root
 * out of reach.
 */
const guide = readFileSync(join(import.meta.dirname, "../../docs/recover.md"), "utf8");
const blocks = [...guide.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block = ""]) => block);
const used = new Set<string>();

function block(words: string): string {
  const found = blocks.filter((each) => each.includes(words));
  expect(found, words).toHaveLength(1);
  const [only = ""] = found;
  used.add(only);
  return only;
}

const CHOOSE = block("for receipt in receipts/*.json");
const READ_RECEIPT = block("> payload.json");
const FROM_DISK = block("find -L objects -name '*.age' -size");
const FROM_S3 = block("aws s3 cp");
const CHECK = block("sha256sum --check\n");
const DECRYPT = block("age --decrypt");
const DESCRIBE = block("jq .predicate.source_metadata");
const POSTGRESQL = block("pg_restore --list backup.dump");
const ANOTHER_NAME = block("grep '^CREATE DATABASE'");
const SQLITE = block("pragma integrity_check");
const FILES = block("mkdir restored\n");
const UNPACK_SET = block("mkdir set");
const GLOBALS = block("set/globals.sql; } |");
const DATABASES = block("for directory in set/");
const MARIADB = block("mariadb --binary-mode");
const MONGODB = block("mongorestore");
const REFERENCE = block("jq . backup.dump");
const REFERRED_FILE = block("dumps=/srv/backups");
const REFERRED_SNAPSHOT = block("restic restore");
const WITHOUT_RECEIPT = block("-printf");

const SOURCES = [
  "shop",
  "invoices",
  "papers",
  "cluster",
  "quick",
  "orders",
  "documents",
  "legacy",
  "archive",
] as const;
type Source = (typeof SOURCES)[number];

let base: string;
let server: Server;
let shop: DatabaseServer;
let elsewhere: DatabaseServer;
let mariadb: SourceMariadb;
let mongodb: SourceMongodb;
let host: Host;
let receipts: Map<Source, StoredReceipt>;

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), "attestore-recover-"));
  // The databases' servers run as somebody else.
  chmodSync(base, 0o755);
  for (const name of ["mariadb", "mongodb"]) mkdirSync(join(base, name));
  shop = await startDatabaseServer();
  elsewhere = await startDatabaseServer();
  createShop(shop, "shop", { options: "template template0 locale_provider icu icu_locale 'de-DE'" });
  shop.sql("shop", "alter database shop set datestyle = 'ISO, DMY'");
  shop.sql("shop", "create role clerk; alter table orders enable row level security");
  shop.sql("shop", "create policy mine on orders to clerk using (id < 100)");
  plantInvoices(join(base, "invoices.db"));
  plantPapers(join(base, "papers"));
  shop.sql("postgres", "create database \"two words\" template template0 encoding 'LATIN1'");
  shop.sql("two words", "create table t (v text); insert into t values ('grün')");
  shop.sql("two words", "alter table t owner to clerk; grant select on t to public");
  [mariadb, mongodb] = await Promise.all([
    startSourceMariadb(join(base, "mariadb")),
    startSourceMongodb(join(base, "mongodb")),
  ]);
  mariadb.sql(`create database shop; use shop; create table orders (id int primary key, note text);
    insert into orders select seq, repeat('x', seq % 50) from seq_1_to_3000;
    create view large as select * from orders where length(note) > 40;
    create procedure nothing() select 1; create trigger t before insert on orders for each row set new.note = 'new';`);
  await mongodb.shop.collection("orders").insertMany([{ number: 1 }, { number: 2, note: "grün" }]);
  mkdirSync(join(base, "dumps/nightly"), { recursive: true });
  writeFileSync(join(base, "dumps/nightly/shop.db"), readFileSync(join(base, "invoices.db")));
  initRestic(join(base, "restic"), "open sesame");
  writeFileSync(join(base, "restic.pw"), "open sesame");
  const kept = shell(base, "restic --quiet --no-cache backup dumps", RESTIC());
  expect(kept.status, kept.stderr).toBe(0);

  server = await startServer();
  host = await attachedHost(await createOrganisation(server), {
    SHOP_URL: shop.url("shop"),
    TEST_MARIADB_URL: mariadb.url("root", ""),
    TEST_MONGODB_URI: mongodb.uri("shop"),
  });
  host.addSources(`  shop: { engine: postgresql, connection: env:SHOP_URL }
  invoices: { engine: sqlite, path: ${join(base, "invoices.db")} }
  papers: { engine: files, path: ${join(base, "papers")} }
  cluster: { engine: postgresql, connection: env:SHOP_URL, databases: [shop, two words], globals: true }
  quick: { engine: postgresql, connection: env:SHOP_URL, jobs: 2 }
  orders: { engine: mariadb, connection: env:TEST_MARIADB_URL }
  documents: { engine: mongodb, connection: env:TEST_MONGODB_URI }
  legacy: { engine: dumps, path: ${join(base, "dumps")}, pattern: "*/*.db", min_age_s: 0 }
  archive: { engine: restic, repository: ${join(base, "restic")}, password: "file:${join(base, "restic.pw")}" }
`);
  receipts = new Map();
  for (const source of SOURCES) {
    const { code, stderr } = await host.run("backup", "--source", source);
    expect(code, stderr).toBe(0);
    const newest = host.receipts().at(-1);
    if (newest !== undefined) receipts.set(source, newest);
  }
  const tested = await host.run("restore-test", "--source", "papers");
  expect(tested.code, tested.stderr).toBe(0);
  await server.stop();
});
afterAll(async () => {
  host.remove();
  await shop.stop();
  await elsewhere.stop();
  await mariadb.close();
  await mongodb.close();
  await server.remove();
  rmSync(base, { recursive: true, force: true });
});

const RESTIC = (): Record<string, string> => ({
  RESTIC_REPOSITORY: join(base, "restic"),
  RESTIC_PASSWORD_FILE: join(base, "restic.pw"),
});

function plantInvoices(path: string): void {
  shell(
    base,
    `sqlite3 '${path}' "create table invoices (number integer primary key, cents int);
     with recursive n (i) as (select 1 union all select i + 1 from n where i < 5000) insert into invoices select i, i * 7 from n;"`,
  );
}

function plantPapers(path: string): void {
  mkdirSync(join(path, "closed", "empty"), { recursive: true });
  writeFileSync(join(path, "two\nlines"), "odd name");
  writeFileSync(Buffer.concat([Buffer.from(`${path}/`), Buffer.from([0xff])]), "no text");
  writeFileSync(join(path, "none"), "");
  writeFileSync(join(path, "program"), "#!/bin/sh\n", { mode: 0o755 });
  linkSync(join(path, "program"), join(path, "same-program"));
  symlinkSync("/etc/hostname", join(path, "link"));
  shell(path, "truncate -s 10M holes && printf x | dd of=holes bs=1 seek=5000000 conv=notrunc status=none");
  writeFileSync(join(path, "large"), Buffer.alloc(5_000_000, "all work and no play "));
  if (process.getuid?.() === 0) chownSync(join(path, "none"), 4321, 1234);
  chmodSync(join(path, "program"), 0o6755);
  chmodSync(join(path, "closed"), 0o500);
}

interface Finished {
  status: number | null;
  stdout: string;
  stderr: string;
}

function shell(cwd: string, script: string, env: Record<string, string> = {}): Finished {
  const { error, status, stdout, stderr } = spawnSync("bash", ["-eu", "-c", script], {
    cwd,
    encoding: "utf8",
    env: { PATH: process.env["PATH"] ?? "", LC_ALL: "C.UTF-8", ...env },
  });
  if (error) throw error;
  return { status, stdout, stderr };
}

/** What somebody has who has kept what the guide says, in an empty directory. */
function place(source: Source, prepare: (directory: string) => void = () => undefined): string {
  const directory = mkdtempSync(join(base, "place-"));
  copyFileSync(join(host.root, "keys", "age.key"), join(directory, "age.key"));
  cpSync(join(host.root, "receipts"), join(directory, "receipts"), {
    recursive: true,
    filter: (path) => !/\/(?:waiting|refused)$/.test(path),
  });
  symlinkSync(join(server.data, "objects"), join(directory, "objects"));
  const receipt = receipts.get(source);
  if (receipt === undefined) throw new Error(`no receipt of ${source}`);
  copyFileSync(receipt.file, join(directory, "receipt.json"));
  prepare(directory);
  return directory;
}

const TO_DUMP = [READ_RECEIPT, FROM_DISK, CHECK, DECRYPT].join("\n");

function recover(source: Source, last: string, env: Record<string, string> = {}): [string, Finished] {
  const directory = place(source);
  const finished = shell(directory, [CHOOSE, TO_DUMP, DESCRIBE, last].join("\n"), env);
  expect(finished.status, finished.stdout + finished.stderr).toBe(0);
  expect(finished.stdout).toContain("backup.age: OK");
  return [directory, finished];
}

describe("the guide's commands recover", () => {
  it("a PostgreSQL database, on another server", () => {
    const address = decodeURIComponent(elsewhere.url("postgres").split("host=")[1] ?? "");
    const [directory, { stdout }] = recover("shop", POSTGRESQL, { PGHOST: address, PGUSER: "shop" });
    expect(stdout).toContain("TABLE DATA public orders shop");
    const create = shell(directory, ANOTHER_NAME).stdout;
    expect(create).toMatch(/^CREATE DATABASE shop WITH .*ICU_LOCALE = 'de-DE';\n$/);
    elsewhere.sql("postgres", create.replace(" shop ", " another "));
    const settings =
      "select datname, daticulocale, current_setting('datestyle') from pg_database where datname = current_database()";
    expect(elsewhere.sql("shop", settings)).toBe(shop.sql("shop", settings));
    const query = `
      select 'customers', count(*), md5(string_agg(c::text, '|' order by id)) from customers c
      union all select 'orders', count(*), md5(string_agg(o::text, '|' order by id)) from orders o
      union all select 'policies', count(*), string_agg(roles::text, '') from pg_policies`;
    expect(elsewhere.sql("shop", query)).toBe(shop.sql("shop", query));
  });

  const contentOf = (of: DatabaseServer): string =>
    [
      of.sql("shop", "select md5(string_agg(o::text, '|' order by id)) from orders o"),
      of.sql("shop", "select string_agg(policyname || roles::text, ' ') from pg_policies"),
      of.sql("two words", "select v, (select tableowner from pg_tables where tablename = 't') from t"),
      of.sql("postgres", "select encoding, datcollate from pg_database where datname = 'two words'"),
    ].join();

  it("several PostgreSQL databases with their roles, owners and encodings, on another server", async () => {
    const empty = await startDatabaseServer();
    try {
      const address = decodeURIComponent(empty.url("postgres").split("host=")[1] ?? "");
      const commands = [UNPACK_SET, GLOBALS, DATABASES].join("\n");
      const [, { stdout }] = recover("cluster", commands, { PGHOST: address, PGUSER: "shop" });
      expect(stdout).not.toContain("NOT RESTORED");
      expect(contentOf(empty)).toBe(contentOf(shop));
    } finally {
      await empty.stop();
    }
  });

  it("a PostgreSQL database that was dumped with several jobs, without its roles", async () => {
    const empty = await startDatabaseServer();
    try {
      const address = decodeURIComponent(empty.url("postgres").split("host=")[1] ?? "");
      empty.sql("postgres", "create role clerk");
      const commands = [UNPACK_SET, GLOBALS, DATABASES].join("\n");
      const [, { stdout }] = recover("quick", commands, { PGHOST: address, PGUSER: "shop" });
      expect(stdout).toMatch(/^restored set\/001-shop\/$/m);
      const query = "select md5(string_agg(o::text, '|' order by id)) from orders o";
      expect(empty.sql("shop", query)).toBe(shop.sql("shop", query));
    } finally {
      await empty.stop();
    }
  });

  it("a MariaDB database, with its view, routine and trigger", () => {
    const content = (): string =>
      mariadb.sql(`select md5(group_concat(id, note order by id)) from shop.orders; select count(*) from shop.large;
        call shop.nothing(); select trigger_name from information_schema.triggers where trigger_schema = 'shop'`);
    const before = content();
    mariadb.sql("drop database shop");
    const socket = decodeURIComponent(mariadb.url("root", "").split("socket=")[1] ?? "");
    writeFileSync(join(base, ".my.cnf"), `[client]\nuser = root\nsocket = ${socket}\n`);
    const [, { stdout }] = recover("orders", MARIADB, { HOME: base });
    expect(stdout).toContain("CREATE DATABASE");
    expect(content()).toBe(before);
  });

  it("a MongoDB database", async () => {
    await mongodb.shop.dropDatabase();
    const at = `mongorestore --uri='${mongodb.uri("")}'`;
    recover("documents", MONGODB.replace("mongorestore", at));
    const found = mongodb.shop.collection("orders").find({}, { projection: { _id: 0 } });
    expect(await found.sort({ number: 1 }).toArray()).toEqual([{ number: 1 }, { number: 2, note: "grün" }]);
  });

  it("the file and the snapshot that a reference names", () => {
    const dumps = REFERRED_FILE.replace("/srv/backups", `'${join(base, "dumps")}'`);
    const [, { stdout }] = recover("legacy", [REFERENCE, dumps].join("\n"));
    expect(stdout).toContain("nightly/shop.db: OK");
    const [directory] = recover("archive", [REFERENCE, REFERRED_SNAPSHOT].join("\n"), RESTIC());
    const restored = readdirSync(join(directory, "restored"), { recursive: true, encoding: "utf8" });
    expect(restored.some((path) => path.endsWith("nightly/shop.db"))).toBe(true);
  });

  it("a SQLite database", () => {
    const [directory, { stdout }] = recover("invoices", SQLITE);
    expect(stdout).toMatch(/\nok\ninvoices\n$/);
    const all = (file: string): string => shell(directory, `sqlite3 '${file}' .dump | sha256sum`).stdout;
    expect(all("restored.sqlite")).toBe(all(join(base, "invoices.db")));
  });

  it("no SQLite database if nothing was decrypted, and no output says ok", () => {
    const directory = mkdtempSync(join(base, "nothing-"));
    const without = shell(directory, SQLITE);
    writeFileSync(join(directory, "backup.dump"), "");
    for (const { status, stdout } of [without, shell(directory, SQLITE)]) {
      expect(status).not.toBe(0);
      expect(stdout).not.toContain("ok");
    }
  });

  it("a tree of files, with owners, modes, times, links and holes", () => {
    const [directory] = recover("papers", FILES);
    const list = (tree: string): string =>
      shell(
        tree,
        String.raw`find . -printf '%p\0%y %m %U:%G %n %T@ %l\0' | sort -z | base64
          find . -type f -print0 | sort -z | xargs -0 sha256sum
          test $(du -k holes | cut -f 1) -lt 5000`,
      ).stdout;
    const found = list(join(directory, "restored"));
    expect(found.length).toBeGreaterThan(500);
    expect(found).toBe(list(join(base, "papers")));
  });
});

it("the dashboard's commands create the roles of a set, and run no command in its globals", () => {
  const record = {
    sha256: "0".repeat(64),
    source_metadata: { dump_format: "pg_dump-set", globals: {}, databases: [] },
  };
  const commands =
    recoverySteps(record as unknown as Parameters<typeof recoverySteps>[0], null).at(-1)?.commands ?? "";
  const directory = place("papers");
  mkdirSync(join(directory, "set"));
  writeFileSync(
    join(directory, "set/globals.sql"),
    "\\restrict theirs\n\\! touch pwned\ncreate role from_globals;\nselect 1 \\! touch pwned\n;\ncreate role more_globals;\n",
  );
  const address = decodeURIComponent(elsewhere.url("postgres").split("host=")[1] ?? "");
  // Without its first line, which unpacks the set.
  const afterUnpacking = commands.slice(commands.indexOf("\n"));
  shell(directory, afterUnpacking, { PGHOST: address, PGUSER: "shop" });
  expect(readdirSync(directory)).not.toContain("pwned");
  const roles =
    "select string_agg(rolname, ' ' order by rolname) from pg_roles where rolname like '%globals'";
  expect(elsewhere.sql("postgres", roles).trim()).toBe("from_globals more_globals");
});

it("the guide's command lists each receipt with its source and result", () => {
  const { stdout } = shell(place("papers"), CHOOSE);
  const lines = stdout
    .trim()
    .split("\n")
    .map((line) => line.split("\t"));
  expect(lines.map((line) => line[3])).toEqual([
    "backup of postgresql",
    "backup of sqlite",
    "backup of files",
    "backup of postgresql",
    "backup of postgresql",
    "backup of mariadb",
    "backup of mongodb",
    "backup of dumps",
    "backup of restic",
    "passed",
  ]);
  expect(lines[9]?.[2]).toBe(lines[2]?.[2]);
  expect(lines[2]?.[4]).toMatch(/^receipts\/\d+-backup\.json$/);
});

it("finds the newest object without a receipt", () => {
  const directory = place("papers");
  rmSync(join(directory, "receipts"), { recursive: true });
  rmSync(join(directory, "receipt.json"));
  const { stdout } = shell(directory, WITHOUT_RECEIPT);
  const objects = stdout.match(/objects\/\S+\.age/g) ?? [];
  expect(objects).toHaveLength(SOURCES.length);
  const source = String(receipts.get("papers")?.statement.predicate.source_id);
  const newest = objects.find((path) => path.includes(`/${source}/`));
  copyFileSync(join(directory, newest ?? ""), join(directory, "backup.age"));
  const { status, stderr } = shell(directory, [DECRYPT, FILES].join("\n"));
  expect(status, stderr).toBe(0);
  expect(readdirSync(join(directory, "restored"))).toContain("two\nlines");
});

describe("the guide's commands stop", () => {
  const damages: [string, (bytes: Buffer) => Buffer][] = [
    ["changed in its header", (bytes) => changed(bytes, 100)],
    ["changed in its middle", (bytes) => changed(bytes, Math.floor(bytes.length / 2))],
    ["changed in its last byte", (bytes) => changed(bytes, bytes.length - 1)],
    ["cut by a byte", (bytes) => bytes.subarray(0, -1)],
    ["longer by a byte", (bytes) => Buffer.concat([bytes, Buffer.from("x")])],
  ];
  const changed = (bytes: Buffer, at: number): Buffer => {
    const copy = Buffer.from(bytes);
    copy[at] = (copy[at] ?? 0) ^ 1;
    return copy;
  };

  it.each(damages)("at a ciphertext that is %s, by its digest and by age itself", (_name, damage) => {
    const directory = place("invoices");
    const found = shell(directory, [READ_RECEIPT, FROM_DISK, CHECK].join("\n"));
    expect(found.status, found.stderr).toBe(0);
    const file = join(directory, "backup.age");
    writeFileSync(file, damage(readFileSync(file)));
    expect(shell(directory, [READ_RECEIPT, CHECK].join("\n")).status).not.toBe(0);
    expect(shell(directory, DECRYPT).status).not.toBe(0);
    expect(existsSync(join(directory, "backup.dump"))).toBe(false);
  });

  it("with somebody else's key", () => {
    const directory = place("invoices", (path) => {
      rmSync(join(path, "age.key"));
      const { status, stderr } = shell(path, "age-keygen -o age.key");
      expect(status, stderr).toBe(0);
    });
    const { status, stderr } = shell(directory, TO_DUMP);
    expect(status).not.toBe(0);
    expect(stderr).toContain("no identity matched");
  });

  it("if no object belongs to the receipt", () => {
    const directory = place("invoices", (path) => {
      const objects = join(path, "objects");
      rmSync(objects);
      cpSync(join(server.data, "objects"), objects, { recursive: true });
      for (const name of readdirSync(objects, { recursive: true, encoding: "utf8" })) {
        if (name.endsWith(".age")) writeFileSync(join(objects, name), "other");
      }
    });
    expect(shell(directory, TO_DUMP).status).not.toBe(0);
    expect(existsSync(join(directory, "backup.age"))).toBe(false);
  });
});

it("the guide names the object's key, and the tests run all of its commands", () => {
  expect(guide).toContain("<org_id>/<source_id>/<upload_id>.age");
  // It needs a bucket: here only that it is a script, and uses what the block before it has set.
  const { status, stderr } = shell(base, `sha256= size=1 prefix=; bash -n <<'END'\n${FROM_S3}END`);
  expect(status, stderr).toBe(0);
  expect(FROM_S3).toContain('--prefix "$prefix/"');
  expect(blocks.filter((each) => !used.has(each))).toEqual([]);
});
