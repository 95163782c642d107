import { chownSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { comparedContentText } from "@attestore/proof";
import { readCiphertext } from "../../src/crypto/ciphertext.ts";
import { unseal } from "../../src/crypto/unseal.ts";
import type { SourceConfigOf } from "../../src/config/source-config.ts";
import { contentDigest } from "../../src/engines/content/content-digest.ts";
import type { ExactObjectsMetadata } from "../../src/engines/content/tagged-objects.ts";
import { GLOBALS } from "../../src/engines/postgresql/set/names.ts";
import { tarHeader, tarPadding } from "@attestore/host/tar";
import { tarEntries } from "../../src/engines/postgresql/set/tar.ts";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { DamageTable } from "./damage-table.ts";
import { makeTestPlace, reseal, type Resealed, type TestPlace } from "./scratch.ts";
import { type SourcePostgres, startSourcePostgres } from "./source-postgres.ts";

/** What happens to the globals of a PostgreSQL server, and what notices it: docs/damage.md. */

const table = new DamageTable("PostgreSQL", "A whole PostgreSQL server");
let place: TestPlace;
let server: SourcePostgres;
let backup: MadeBackup;
let archive: Buffer;

beforeAll(async () => {
  place = await makeTestPlace();
  // Its first superuser has another name than a sandbox's.
  server = await startSourcePostgres(place.dir, "postgres");
  const fast = join(place.dir, "fast");
  mkdirSync(fast);
  const { uid, gid } = statSync(server.sql("show data_directory"));
  chownSync(fast, uid, gid);
  server.sql(`
    create role seller superuser createrole login connection limit 5 password 'hush-hush' valid until '2030-01-01 12:00+02';
    create role "Odd ""role""" noinherit bypassrls; create role buyer login; create role unused;
    grant seller to "Odd ""role"""; grant seller to buyer with admin option; grant pg_monitor to unused;
    alter role seller set search_path = a, "B c"; alter role seller set timezone = 'Europe/Berlin';
    alter role buyer set my.path = 'C:\\\\it''s'; alter role buyer set work_mem = '8MB';
    alter role buyer in database postgres set work_mem = '9MB';
    alter database postgres set search_path = public, "B c"; alter database postgres set my.path = 'C:\\there';
    comment on database postgres is 'it''s \\ours'; alter database postgres connection limit 50; alter database postgres owner to seller;
    revoke temporary on database postgres from public; grant create on database postgres to buyer with grant option;
    set role buyer; grant create on database postgres to "Odd ""role"""; reset role;
    comment on role seller is 'it''s C:\\\\here';
    create tablespace fast owner seller location '${fast}'; alter tablespace fast set (random_page_cost = 1.1, seq_page_cost = 1);
    comment on tablespace fast is 'of the new disks'; grant create on tablespace fast to buyer with grant option;
    grant set on parameter log_min_messages to buyer; grant alter system on parameter work_mem to public;
    create table here (n int); insert into here values (1), (2);
    \\connect template1
    alter database postgres set tablespace fast;
    \\connect postgres
    create table placed (n int constraint "N is" primary key using index tablespace pg_default) tablespace pg_default;
    create materialized view counted tablespace pg_default as select count(*) as n from here;
    create unique index "Counted" on counted (n) tablespace pg_default; create index placed_n on placed (n) tablespace pg_default;`);
  backup = await back();
  const whole = unseal(readCiphertext({ path: backup.path }), [place.identity]);
  archive = Buffer.concat(await Array.fromAsync(whole, (piece) => Buffer.from(piece)));
});

afterAll(async () => {
  await server?.close();
  await place?.remove();
});

const back = (more: Partial<SourceConfigOf<"postgresql">> = {}): Promise<MadeBackup> =>
  backUp(place, { ...server.source, databases: ["postgres"], globals: true, ...more });

/** The globals, and what follows them in the archive. */
async function partsOf(bytes: Buffer): Promise<{ globals: string; rest: Buffer }> {
  const entries = tarEntries(
    (async function* () {
      yield await Promise.resolve(bytes);
    })(),
  );
  const first = await entries.next();
  if (first.done === true) throw new Error("an empty archive");
  expect(first.value.name).toBe(GLOBALS);
  const globals = Buffer.concat(await Array.fromAsync(first.value.content, (piece) => Buffer.from(piece)));
  const length = 512 + globals.length + tarPadding(globals.length).length;
  return { globals: globals.toString("utf8"), rest: bytes.subarray(length) };
}

/** Tests the backup with other globals in the place of its own. */
async function testWith(change: (globals: string) => string): Promise<RestoreTestResult> {
  const { globals, rest } = await partsOf(archive);
  const changed = Buffer.from(change(globals));
  const instead = await reseal(
    place,
    Buffer.concat([tarHeader(GLOBALS, changed.length), changed, tarPadding(changed.length), rest]),
  );
  return testBackup(place, server.source, backup, { instead });
}

/** Over no object. */
const NOTHING = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

const globalsOf = ({ checks }: RestoreTestResult) => checks.find(({ id }) => id === "inferred:globals");

test("roles, memberships, settings, tablespaces and grants come back as they were", async () => {
  const tested = await testBackup(place, server.source, backup);
  expect(tested.reason).toBeUndefined();
  expect(globalsOf(tested)).toMatchObject({
    result: "passed",
    observed: { objects: 19, found: 19, differing: 0 },
  });
  expect(globalsOf(tested)?.observed).not.toHaveProperty("not_compared");
  expect(globalsOf(tested)?.observed).not.toHaveProperty("not_looked_at");
  expect(comparedContentText(tested.checks)).toMatch(
    /; 19 roles, memberships and settings compared in the dump$/,
  );
  // Neither a password's verifier nor a setting's value is in the receipt.
  const signed = JSON.stringify([backup.sourceMetadata, tested.checks]);
  for (const secret of ["SCRAM-SHA-256", "Europe/Berlin", "it's"]) expect(signed).not.toContain(secret);
  expect((await partsOf(archive)).globals).toContain("SCRAM-SHA-256");
});

/** Each list is one dump. A text is taken out, or another put in its place. */
const ON_THE_WAY: readonly (readonly (readonly [
  what: string,
  from: string | RegExp,
  to: string,
  names: string,
])[])[] = [
  [
    [
      "a role's membership lost on the way",
      /GRANT pg_monitor TO unused.*;\n/,
      "",
      "membership pg_monitor to unused (missing)",
    ],
    [
      "a membership without the option ADMIN on the way",
      /(?<=TO buyer WITH )ADMIN OPTION/,
      "ADMIN FALSE",
      "membership seller to buyer (other)",
    ],
    [
      "a role's setting lost on the way",
      /ALTER ROLE seller SET search_path .*\n/,
      "",
      "role setting seller search_path (missing)",
    ],
    ["a role's setting changed on the way", "'8MB'", "'9MB'", "role setting buyer work_mem (other)"],
    [
      "a role no longer a superuser on the way",
      "seller WITH SUPERUSER",
      "seller WITH NOSUPERUSER",
      "role seller (other)",
    ],
  ],
  [
    [
      "a role's right to log in lost on the way",
      /(?<=buyer WITH .*) LOGIN/,
      " NOLOGIN",
      "role buyer (other)",
    ],
    [
      "a role's password changed on the way",
      "SCRAM-SHA-256$4096:",
      "SCRAM-SHA-256$4096:A",
      "role password seller (other)",
    ],
    ["a role's comment lost on the way", /COMMENT ON ROLE seller .*\n/, "", "comment role seller (missing)"],
    ["a tablespace elsewhere on the way", "/fast'", "/slow'", "tablespace fast (other)"],
    [
      "a grant on a parameter lost on the way",
      /GRANT SET ON PARAMETER .*\n/,
      "",
      "grant SET on parameter log_min_messages to buyer (missing)",
    ],
    [
      "a statement added to the globals on the way",
      "CREATE ROLE seller;",
      "CREATE ROLE seller;\nDROP ROLE unused;",
      "statement",
    ],
  ],
];

test.each(ON_THE_WAY)("damage to the globals on the way is noticed as the table says", async (...cases) => {
  const tested = await testWith((globals) =>
    cases.reduce((text, [what, from, to]) => {
      const changed = text.replace(from, () => to);
      expect(changed, what).not.toBe(text);
      return changed;
    }, globals),
  );
  for (const [what, , , names] of cases) table.noticed(what, tested, names);
});

/** A backup of the server after some SQL, in the place of that from before. */
async function otherwise(sql: string): Promise<Resealed> {
  server.sql(sql);
  const { path, sha256, sourceMetadata } = await back();
  return { path, sha256, plaintextBytes: Number(sourceMetadata["plaintext_size_bytes"]) };
}

/** It knew neither the owner of the database nor its grants. */
function ofFifthVersion({ kinds, ...more }: ExactObjectsMetadata): ExactObjectsMetadata {
  const { database_owner: _owner, database_grants: _grants, ...known } = kinds;
  const digests = Object.entries(known).map(([kind, { sha256 }]) => [kind, sha256] as const);
  return {
    ...more,
    v: 5,
    total: Object.values(known).reduce((total, { count }) => total + count, 0),
    sha256: contentDigest(digests),
    kinds: known,
  };
}

const privilegesOf = ({ checks }: RestoreTestResult) =>
  checks.find(({ id }) => id === "inferred:privileges:postgres");

test.each([
  [
    "a grant on a database lost on the way",
    'set role buyer; revoke create on database postgres from "Odd ""role"""',
    'set role buyer; grant create on database postgres to "Odd ""role"""',
  ],
  [
    "a right on a database that was revoked from PUBLIC given back on the way",
    "grant temporary on database postgres to public",
    "revoke temporary on database postgres from public",
  ],
])("%s", async (what, sql, undo) => {
  try {
    const tested = await testBackup(place, server.source, backup, { instead: await otherwise(sql) });
    table.noticed(what, tested, "database grants (other)");
    expect(privilegesOf(tested)?.observed).toMatchObject({ differing: 1 });
  } finally {
    server.sql(undo);
  }
});

test("grants on the database of a backup that does not list them are named", async () => {
  const passed = await testBackup(place, server.source, backup);
  expect(privilegesOf(passed)?.observed).not.toHaveProperty("not_compared");
  const databases = backup.sourceMetadata["databases"] as { content: { privileges: ExactObjectsMetadata } }[];
  const metadata = {
    databases: databases.map(({ content, ...more }) => ({
      ...more,
      content: { ...content, privileges: ofFifthVersion(content.privileges) },
    })),
  };
  const earlier = await testBackup(place, server.source, backup, { metadata });
  expect(earlier.reason).toBeUndefined();
  expect(comparedContentText(earlier.checks)).toMatch(
    /owners and grants of \d+ objects? compared, not compared: all of the kind database owner, all of the kind database grants, all of the kind grants on system objects, all of the kind grants on extension objects;/,
  );
});

test.each([
  [
    `alter table placed set tablespace fast; alter index "N is" set tablespace fast`,
    `alter table placed set tablespace pg_default; alter index "N is" set tablespace pg_default`,
    ["tablespace table public.placed (missing)", "tablespace index public.N is (missing)"],
  ],
  [
    `alter materialized view counted set tablespace fast; alter index "Counted" set tablespace fast; drop index placed_n; create index placed_n on placed (n)`,
    `alter materialized view counted set tablespace pg_default; alter index "Counted" set tablespace pg_default; alter index placed_n set tablespace pg_default`,
    [
      "tablespace materialized view public.counted (missing)",
      "tablespace index public.Counted (missing)",
      "tablespace index public.placed_n (missing)",
    ],
  ],
])("what lies in which tablespace is compared with the dump: %s", async (sql, undo, names) => {
  const tested = await testBackup(place, server.source, backup, { instead: await otherwise(sql) });
  server.sql(undo);
  for (const each of names)
    table.noticed("the tablespace of a table, materialized view or index changed on the way", tested, each);
});

test("the tablespace and the locale of the database are compared with the dump", async () => {
  const move = (tablespace: string) =>
    `\\connect template1\nalter database postgres set tablespace ${tablespace};\n\\connect postgres\n`;
  const ours = [
    "table placed",
    'index "N is"',
    "materialized view counted",
    'index "Counted"',
    "index placed_n",
  ];
  const moveAll = (tablespace: string) =>
    ours.map((each) => `alter ${each} set tablespace ${tablespace};\n`).join("");
  const instead = await otherwise(moveAll("fast") + move("pg_default"));
  server.sql(move("fast") + moveAll("pg_default"));
  table.noticed(
    "a database's tablespace changed on the way",
    await testBackup(place, server.source, backup, { instead }),
    "database tablespace (missing)",
  );
  const text = archive.toString("latin1");
  const other = text.replace("ENCODING = 'UTF8'", "ENCODING = 'BIG5'");
  expect(other).not.toBe(text);
  table.noticed(
    "the encoding or locale of a database changed on the way",
    await testBackup(place, server.source, backup, {
      instead: await reseal(place, Buffer.from(other, "latin1")),
    }),
    "database locale (other)",
  );
});

test("what is set for one database is compared with its dump", async () => {
  const passed = await testBackup(place, server.source, backup);
  const unrestored = (tested: RestoreTestResult) =>
    tested.checks.find(({ id }) => id === "inferred:unrestored:postgres");
  expect(unrestored(passed)).toMatchObject({ result: "passed", observed: { objects: 12, differing: 0 } });
  const instead = await otherwise(`
    alter role buyer in database postgres reset work_mem; alter database postgres set my.path = 'elsewhere';
    comment on database postgres is null; alter database postgres connection limit 5; alter database postgres owner to buyer`);
  const tested = await testBackup(place, server.source, backup, { instead });
  for (const [what, names] of [
    ["a role's setting in one database lost on the way", "role in database setting buyer work_mem (missing)"],
    ["a setting of a database changed on the way", "database setting my.path (other)"],
    ["a database's comment lost on the way", "database comment postgres (missing)"],
    ["a database's limit of connections changed on the way", "database connection limit postgres (other)"],
    ["a database's owner changed on the way", "database owner (other)"],
  ] as const)
    table.noticed(what, tested, names);
  // The second version knew nothing of the database itself.
  const databases = backup.sourceMetadata["databases"] as { content: { unrestored: object } }[];
  const second = {
    v: 2,
    total: 0,
    sha256: NOTHING,
    kinds: {},
    named: [],
    left_out: [["subscription", null]],
  };
  const metadata = {
    databases: databases.map(({ content, ...more }) => ({
      ...more,
      content: { ...content, unrestored: second },
    })),
  };
  const earlier = await testBackup(place, server.source, backup, { metadata });
  expect(unrestored(earlier)).toBeUndefined();
  const kinds = [
    "subscription",
    "database setting",
    "role in database setting",
    "database comment",
    "database connection limit",
    "database is template",
    "database locale",
    "database tablespace",
    "database label",
    "large object label",
    "subscription connection",
    "extension comment",
    "tablespace",
  ];
  const named = kinds.map((kind) => `all of the kind ${kind}`).join(", ");
  expect(earlier.checks.find(({ id }) => id === "inferred:objects:postgres")?.observed).toMatchObject({
    not_looked_at: kinds.length,
    // A receipt has the first 400 characters.
    not_looked_at_objects: { length: 401, text: named.slice(0, 256) },
  });
});

test("a role's expiry is compared, however the server prints times", async () => {
  server.sql(
    "alter system set timezone = 'Asia/Tokyo'; alter system set datestyle = 'SQL, DMY'; select pg_reload_conf()",
  );
  try {
    const tested = await testBackup(place, server.source, await back());
    expect(globalsOf(tested)).toMatchObject({ result: "passed", observed: { differing: 0 } });
  } finally {
    server.sql("alter system reset all; select pg_reload_conf()");
  }
  const later = await testWith((globals) =>
    globals.replace("2030-01-01 10:00:00+00", "2031-01-01 10:00:00+00"),
  );
  table.noticed("a role's expiry changed on the way", later, "role seller (other)");
});

test("without the right to read passwords, all the rest is compared, and passwords are named", async () => {
  server.sql("create role backups login; grant select on here, placed to backups");
  process.env["TEST_OTHER_URL"] = server.url("backups", "", "postgres");
  try {
    const made = await back({ connection: { kind: "env", name: "TEST_OTHER_URL" } });
    expect(made.sourceMetadata["globals"]).toMatchObject({ passwords: false });
    const tested = await testBackup(place, server.source, made);
    expect(tested.reason).toBeUndefined();
    expect(globalsOf(tested)).toMatchObject({
      result: "passed",
      observed: { differing: 0, not_compared: 1, not_compared_objects: "all of the kind role password" },
    });
    table.says("roles' passwords that the backup's role may not read", "named as not compared");
  } finally {
    server.sql("revoke select on here, placed from backups; drop role backups");
    delete process.env["TEST_OTHER_URL"];
  }
});

test("what pg_dumpall leaves out is named", async () => {
  server.sql(`alter role all set work_mem = '7MB'; alter tablespace pg_default set (random_page_cost = 1.1);
    comment on role pg_monitor is 'ours'`);
  try {
    const tested = await testBackup(place, server.source, await back());
    expect(tested.reason).toBeUndefined();
    const names = "setting of all roles, built in tablespace, built in role";
    expect(globalsOf(tested)).toMatchObject({
      result: "passed",
      observed: {
        objects: 19,
        differing: 0,
        not_compared: 3,
        not_compared_objects: names.replaceAll(/(?<=^|, )/g, "all of the kind "),
      },
    });
    table.says(
      "a setting of all roles, or of a built-in tablespace, which `pg_dumpall` leaves out",
      "named as not compared",
    );
  } finally {
    server.sql(
      "alter role all reset work_mem; alter tablespace pg_default reset (random_page_cost); comment on role pg_monitor is null",
    );
  }
});

test("a role whose name has a backslash comes back", async () => {
  server.sql(
    'create role "CORP\\alice" login; create role "two\n\\lines"; grant "CORP\\alice" to "two\n\\lines"',
  );
  try {
    const tested = await testBackup(place, server.source, await back());
    expect(tested.reason).toBeUndefined();
    expect(globalsOf(tested)?.observed).not.toHaveProperty("not_looked_at");
  } finally {
    server.sql('drop role "CORP\\alice"; drop role "two\n\\lines"');
  }
});

test("a backup of an earlier agent is tested as before, and its summary names what is not compared", async () => {
  const tested = await testBackup(place, server.source, backup, { without: ["content"] });
  expect(tested.reason).toBeUndefined();
  expect(globalsOf(tested)).toBeUndefined();
  expect(tested.checks).toContainEqual(expect.objectContaining({ id: "inferred:roles", result: "passed" }));
  expect(comparedContentText(tested.checks)).toContain(
    "attributes, memberships and settings of roles not compared",
  );
});

test("every case of the table is here", () => {
  table.everyCaseIsHeld();
});
