import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { comparedContentText } from "@attestore/proof";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { EarlierTests } from "../../src/checks/earlier-tests/earlier-tests.ts";
import type { SourceConfigOf } from "../../src/config/source-config.ts";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import { DamageTable, seenForDays } from "./damage-table.ts";
import { initRestic } from "./restic-repository.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { dumpsIn } from "./dumps-in.ts";
import { makeTestPlace, type TestPlace } from "./scratch.ts";
import { type SourcePostgres, startSourcePostgres } from "./source-postgres.ts";

/** What happens to backups that other programs made, and what notices it: docs/damage.md. */

type Source = SourceConfigOf<"dumps"> | SourceConfigOf<"restic">;

const dumpsTable = new DamageTable("dumps", "Dumps of other programs");
const resticTable = new DamageTable("restic", "Trees in restic");
const PASSWORD = "hush-hush";
let place: TestPlace;
let server: SourcePostgres;
let directory: string;

beforeAll(async () => {
  place = await makeTestPlace();
  server = await startSourcePostgres(place.dir);
  directory = join(place.dir, "dumps");
  mkdirSync(directory);
  process.env["TEST_RESTIC_PASSWORD"] = PASSWORD;
});

afterAll(async () => {
  await server?.close();
  await place?.remove();
});

const run = (command: string, env: Record<string, string> = {}): Buffer =>
  execFileSync("sh", ["-euc", command], {
    env: { ...process.env, ...server.environment, ...env },
    cwd: directory,
    stdio: ["ignore", "pipe", "pipe"],
  });

const REPOSITORY = (): Record<string, string> => ({
  RESTIC_REPOSITORY: join(place.dir, "repository"),
  RESTIC_PASSWORD: PASSWORD,
});
const dumps = (): Source => dumpsIn(directory, { pattern: "*.dump" });
const restic = (): Source => ({
  slug: "archive",
  engine: "restic",
  sandbox: "process",
  checkTimeout_s: 60,
  checks: [],
  max_age_s: null,
  repository: join(place.dir, "repository"),
  password: { kind: "env", name: "TEST_RESTIC_PASSWORD" },
  tags: [],
  host: null,
  file: null,
  as_agent: false,
});

const back = (source: Source): Promise<MadeBackup> => backUp(place, source);

const testIt = (source: Source, made: MadeBackup, seen?: EarlierTests): Promise<RestoreTestResult> =>
  testBackup(place, source, made, { seen });

const filled = (name: string): string =>
  `create table ${name} (id int primary key, note text); insert into ${name} select i, 'please leave parcel ' || i || ' with the neighbours' from generate_series(1, 100) i;`;
const TABLES = ["steady", "halved", "emptied", "dropped", "changed"];
const SHOP = `${TABLES.map(filled).join("\n")}
  create table lines (id int primary key, n int check (n > 0), of int references changed);
  insert into lines select i, i, i from generate_series(1, 100) i;
  create index by_n on lines (n);
  create function touched() returns trigger language plpgsql as $$ begin return new; end $$;
  create trigger touched before update on lines for each row execute function touched();
  alter table lines enable row level security; create policy own on lines using (n > 0);`;

/** A dump of the shop in which something ran before. */
function dumpShop(change: string, options = "-Fc"): void {
  server.sql(`drop database if exists shop`);
  server.sql("create database shop");
  server.sql(`\\connect shop\n${SHOP}\n${change}`);
  run(`pg_dump ${options} -f a.dump shop`);
}

const snapshotOf = ({ sourceMetadata }: MadeBackup): unknown =>
  (sourceMetadata["original"] as Readonly<Record<string, unknown>>)["snapshot_id"];

const suspicionsIn = ({ profile }: RestoreTestResult): string[] =>
  (profile?.suspicious ?? []).map(({ table, measure }) => `${table} ${measure}`);

test("damage to dumps of a PostgreSQL database is noticed as the table says", async () => {
  dumpShop("");
  const first = await back(dumps());
  const passed = await testIt(dumps(), first);
  expect(passed.reason).toBeUndefined();
  const seen = seenForDays(passed);
  const dumped = async (change: string, options?: string): Promise<RestoreTestResult> => {
    dumpShop(change, options);
    return testIt(dumps(), await back(dumps()), seen);
  };

  const lost = await dumped(`alter table dropped rename to gone; truncate emptied;
    delete from halved where id > 50; delete from steady where id > 90`);
  dumpsTable.noticed("a table dropped or renamed at the source", lost, "dropped");
  dumpsTable.noticed("a table emptied at the source", lost, "inferred:rows:public.emptied");
  dumpsTable.noticed("half of a table's rows deleted at the source", lost, "inferred:rows:public.halved");
  dumpsTable.noticed(
    "10 % of a steady table's rows deleted at the source",
    lost,
    "inferred:rows:public.steady",
  );
  const told = await dumped(`
    update steady set note = encode(sha256(note::bytea), 'base64') where id <= 10;
    update halved set note = 'pay to get your data back'; update emptied set note = null`);
  expect(told.reason).toBeUndefined();
  expect(suspicionsIn(told)).toEqual(
    expect.arrayContaining(["public.steady random", "public.halved distinct", "public.emptied nulls"]),
  );
  dumpsTable.says("a tenth of a text column encrypted at the source", "reported as suspicious");
  dumpsTable.says("ransom text in place of every value", "reported as suspicious");
  dumpsTable.says("every value of a column set to NULL at the source", "reported as suspicious");

  const bare = await dumped("", "-Fc --section=pre-data --section=data");
  dumpsTable.noticed("made without indexes, keys and triggers", bare, "indexes 0 of 7");
  const hollow = await dumped("", "-Fc --schema-only");
  dumpsTable.noticed("made without data", hollow, "inferred:");
  const other = await dumped(
    `drop table lines; drop table ${TABLES.join(", ")}; create table logs (n int); insert into logs values (1)`,
  );
  dumpsTable.noticed("another database's dump in the directory", other, "changed");

  // The function runs again when the restore builds the index.
  const code = await dumped(`
    create function writes(int) returns int language plpgsql as $$ begin update public.changed set note = 'mote' where id = 7; return $1; end $$;
    create function code(int) returns int language plpgsql immutable as $$ begin return public.writes($1); end $$;
    create index by_code on lines (code(n)); update changed set note = 'please leave parcel 7 with the neighbours' where id = 7;`);
  dumpsTable.noticed("code in the dump changes rows while it is restored", code, "public.changed");
  const drops = await dumped(`drop index by_n;
    create function writes(int) returns int language plpgsql as $$ begin drop index if exists public.by_n; return $1; end $$;
    create function code(int) returns int language plpgsql immutable as $$ begin return public.writes($1); end $$;
    create index zz_code on changed (code(id)); create index by_n on lines (n);`);
  dumpsTable.noticed(
    "code in the dump drops an index while it is restored",
    drops,
    "index public.by_n (missing)",
  );
  const fickle = await dumped(`
    create function fickle(int) returns float8 immutable language plpgsql as 'begin return random(); end';
    create index by_chance on steady (fickle(id))`);
  dumpsTable.noticed(
    "an index made with a function that is declared immutable and is not",
    fickle,
    "public.by_chance",
  );
  const broken = await dumped(
    "set session_replication_role = replica; update lines set of = 1000 where id = 7",
  );
  expect(broken).toMatchObject({ result: "failed", checks: [] });
  dumpsTable.says("a row that breaks a foreign key", "refused");

  const honest = await dumped(`insert into steady select i, 'note' from generate_series(101, 130) i;
    update changed set note = note || '!'; delete from halved where id < 3; ${filled("orders")} drop index by_n; create index by_note on lines (n, of)`);
  expect(honest.reason).toBeUndefined();
  dumpsTable.says("rows added and changed, a few deleted, a new table, another index", "passes");
});

test("the file of a dump that is other or gone", async () => {
  dumpShop("");
  const file = join(directory, "a.dump");
  const whole = readFileSync(file);
  const made = await back(dumps());
  const flipped = Buffer.from(whole);
  flipped[whole.length >> 1]! ^= 1;
  writeFileSync(file, flipped);
  expect(await testIt(dumps(), made)).toMatchObject({ result: "failed", checks: [] });
  dumpsTable.says("a bit flipped in the file after its backup", "refused");
  writeFileSync(file, whole.subarray(0, whole.length * 0.9));
  expect(await testIt(dumps(), made)).toMatchObject({ result: "failed", checks: [] });
  dumpsTable.says("the end of the file cut off after its backup", "refused");
  writeFileSync(join(directory, "b.dump"), "");
  await expect(back(dumps())).rejects.toMatchObject({ code: "dump_failed" });
  dumpsTable.says("the newest dump is empty", "no backup is made");
  const hour = Date.now() / 1000 + 3600;
  writeFileSync(join(directory, "b.dump"), whole);
  utimesSync(join(directory, "b.dump"), hour, hour);
  const fresh = { ...dumps(), max_age_s: 86_400, min_age_s: 60 } as Source;
  await expect(back(fresh)).rejects.toMatchObject({ code: "source_missing" });
  dumpsTable.says("the newest dump is dated in the future", "no backup is made");
  rmSync(join(directory, "b.dump"));
  const cut = await testIt(dumps(), await back(dumps()));
  expect(cut).toMatchObject({ result: "failed", checks: [] });
  dumpsTable.says("the end of the file cut off before its backup", "refused");
  rmSync(file);
  await expect(testIt(dumps(), made)).rejects.toMatchObject({ code: "ciphertext_unavailable" });
  dumpsTable.says("the file removed after its backup", "could not run");
});

test("damage to a tree in restic is noticed as the table says", async () => {
  initRestic(join(place.dir, "repository"), PASSWORD);
  const FILES = 200;
  const tree = join(directory, "tree");
  const write = (): void => {
    rmSync(tree, { recursive: true, force: true });
    mkdirSync(tree);
    for (let at = 0; at < FILES; at += 1)
      writeFileSync(join(tree, `${at}.pdf`), Buffer.concat([Buffer.from("%PDF-1.7\n"), randomBytes(600)]));
  };
  let seen: EarlierTests | null = null;
  const stored = async (change: () => unknown): Promise<RestoreTestResult> => {
    write();
    change();
    run("restic --quiet --no-cache backup tree", REPOSITORY());
    return testIt(restic(), await back(restic()), seen ?? undefined);
  };
  const passed = await stored(() => undefined);
  expect(passed.reason).toBeUndefined();
  seen = seenForDays(passed);
  const all = await stored(() => run("rm tree/*"));
  resticTable.noticed("all files deleted at the source", all, "accept shop .");
  const half = await stored(() => run("rm tree/*[02468].pdf tree/11.pdf"));
  resticTable.noticed("more than half of the files deleted at the source", half, "accept shop .");
  const some = await stored(() => run("rm tree/*5.pdf"));
  resticTable.noticed("10 % of a steady tree's files deleted at the source", some, "accept shop .");
  const told = await stored(() => {
    for (let at = 0; at < 12; at += 1) writeFileSync(join(tree, `${at}.pdf`), randomBytes(609));
    run('for f in tree/19*.pdf; do mv "$f" "$f.x7f3a"; done; echo pay >tree/HOW_TO_DECRYPT.txt');
  });
  expect(told.reason).toBeUndefined();
  expect(suspicionsIn(told)).toEqual(expect.arrayContaining([". random", ". renamed", ". notes"]));
  for (const what of ["files encrypted in place", "files renamed", "a ransom note"])
    resticTable.says(`${what} at the source`, "reported as suspicious");
  const honest = await stored(() => run("echo more >>tree/7.pdf; rm tree/8.pdf; cp tree/9.pdf tree/new.pdf"));
  expect(honest.reason).toBeUndefined();
  resticTable.says("files added and changed, a few deleted", "passes");
  const odd = await stored(() => run("mkfifo tree/pipe tree/other; touch tree/none; chmod 0 tree/none"));
  expect(odd.reason).toBeUndefined();
  expect(odd.checks).toContainEqual(expect.objectContaining({ id: "inferred:listing", result: "passed" }));
  expect(comparedContentText(odd.checks)).toContain("2 pipes, devices and sockets (restic's archive has");
  resticTable.says("pipes, and files that nobody may read", "passes");

  // Programs in the place of tar and restic that do their work, and then something else.
  const programs = join(place.dir, "programs");
  mkdirSync(programs);
  const { PATH } = process.env;
  const instead = async (program: string, script: string): Promise<RestoreTestResult> => {
    const path = join(programs, program);
    writeFileSync(path, `#!/bin/sh\nPATH=${PATH}\n${script}\n`, { mode: 0o755 });
    process.env["PATH"] = `${programs}:${PATH}`;
    try {
      return await testIt(restic(), made, seen ?? undefined);
    } finally {
      process.env["PATH"] = PATH;
      rmSync(path);
    }
  };
  write();
  run(
    "chmod 640 tree/1.pdf; ln -s 2.pdf tree/link; mkdir tree/empty; truncate -s 1M tree/holes; chown 4711:4712 tree/3.pdf",
  );
  run("restic --quiet --no-cache backup tree", REPOSITORY());
  const made = await back(restic());
  const whole = await testIt(restic(), made, seen);
  expect(whole.reason).toBeUndefined();
  expect(comparedContentText(whole.checks)).toBe(
    "content, times and the archive's owners compared; not compared: times below a second (restic's archive has none)",
  );
  for (const [what, change, word] of [
    ["a file lost while it is restored", "rm tree/7.pdf", "names"],
    ["an empty directory lost while it is restored", "rmdir tree/empty", "names"],
    [
      "a byte of a file changed while it is restored",
      "printf x | dd of=tree/7.pdf bs=1 seek=300 conv=notrunc; touch -d @0 tree/7.pdf",
      "contents",
    ],
    ["a symbolic link changed while it is restored", "ln -sfn 3.pdf tree/link", "links"],
    ["permissions changed while they are restored", "chmod 644 tree/1.pdf", "permissions"],
    ["a time changed while it is restored", "touch -d @0 tree/7.pdf", "times"],
  ] as const)
    resticTable.noticed(
      what,
      await instead("tar", `tar "$@" && case "$*" in *--extract*) ${change};; esac`),
      word,
    );
  const kept = await instead(
    "restic",
    `case "$*" in *dump*) restic "$@" | tar --delete -f - tree/7.pdf;; *) exec restic "$@";; esac`,
  );
  resticTable.noticed("a file that restic lists and does not give", kept, "names");
  run(`restic --quiet --no-cache forget ${String(snapshotOf(made))}`, REPOSITORY());
  await expect(testIt(restic(), made)).rejects.toMatchObject({ code: "ciphertext_unavailable" });
  resticTable.says("the snapshot forgotten after its backup", "could not run");

  run("restic --quiet --no-cache backup tree", REPOSITORY());
  const newest = `${REPOSITORY()["RESTIC_REPOSITORY"]}/snapshots/${String(snapshotOf(await back(restic())))}`;
  run(`cp ${newest} whole; chmod u+w ${newest}; printf x | dd of=${newest} bs=1 seek=20 conv=notrunc`);
  await expect(back(restic())).rejects.toMatchObject({ code: "dump_failed" });
  resticTable.says("the newest snapshot damaged", "no backup is made");
  run(`cp whole ${newest}`);

  run("pg_dump -Fc -f old.dump postgres; touch -d '9 days ago' old.dump", REPOSITORY());
  run("restic --quiet --no-cache backup old.dump", REPOSITORY());
  const old = { ...restic(), file: "/old.dump", max_age_s: 8 * 86_400 } as Source;
  await expect(back(old)).rejects.toMatchObject({ code: "source_missing" });
  dumpsTable.says("a dump of nine days ago, in a snapshot of today", "no backup is made");
});

test("every case of the tables is here", () => {
  dumpsTable.everyCaseIsHeld();
  resticTable.everyCaseIsHeld();
});
