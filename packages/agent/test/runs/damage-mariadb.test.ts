import { randomBytes } from "node:crypto";
import type { Profile } from "@attestore/proof";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Seen } from "../../src/checks/seen.ts";
import type { SourceConfigOf } from "../../src/config/source-config.ts";
import { type RestoreTestResult, restoreAndCheck } from "../../src/runs/restore-and-check.ts";
import { writeEncryptedDump, type MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import { makeTestPlace, type TestPlace, type Resealed, sizeOf } from "./scratch.ts";
import { type SourceMariadb, startSourceMariadb } from "./source-mariadb.ts";

/** What happens to a MariaDB or MySQL database, and what notices it by default: docs/checks.md. */

const never = new AbortController().signal;
/** More than is read of one table: a sample has to find it. */
const ROWS = 40_000;

let place: TestPlace;
let server: SourceMariadb;
let busy: RestoreTestResult;

const digits = (name: string): string =>
  `(select 0 n union all select 1 union all select 2 union all select 3 union all select 4 union all select 5 union all select 6 union all select 7 union all select 8 union all select 9) ${name}`;
const numbers = (rows: number): string =>
  `(select a.n + 10 * b.n + 100 * c.n + 1000 * d.n + 10000 * e.n + 1 as i from ${["a", "b", "c", "d", "e"].map(digits).join(", ")} having i <= ${rows}) numbers`;

const BUSY = `create database busy default character set utf8mb4; use busy;
  create table orders (id int primary key, at datetime, note text, mail varchar(99) character set latin1, raw longblob, doc json,
    price decimal(9, 2), flags bit(4), kind enum('a', 'b'), spot point, twice int as (id * 2) stored);
  insert into orders (id, at, note, mail, raw, doc, price, flags, kind, spot)
    select i, date_sub('2026-11-01', interval i % 500 day), concat('please leave parcel number ', i, ' with the neighbours, thanks'),
      if(i % 4 = 0, null, concat('customer', i, '@example.com')), concat('picture of chair number ', i), json_object('chairs', i % 7), i % 1000, i % 16, 'a', point(i, 1)
    from ${numbers(ROWS)};
  create table secret (name text); insert into secret select concat('only ', i) from ${numbers(40)};
  create table \`we ;ird\`\`t\` (\`a \`\`b\` text, gone datetime);
  insert into \`we ;ird\`\`t\` select concat('NULL\\tline\\n\\\\N ', i), null from ${numbers(60)};`;

beforeAll(async () => {
  place = await makeTestPlace();
  server = await startSourceMariadb(place.dir);
  server.sql(BUSY);
  busy = await testIt(await back({ databases: ["busy"] }));
});

afterAll(async () => {
  await server?.close();
  await place?.remove();
});

const back = (more: Partial<SourceConfigOf<"mariadb" | "mysql">> = {}): Promise<MadeBackup> =>
  writeEncryptedDump({
    source: { ...server.source, ...more },
    recipients: [place.recipient],
    blobsDir: place.blobs,
    scratchDir: place.scratch,
    signal: never,
  });

function testIt(
  made: MadeBackup,
  { instead = made, seen, ...more }: { instead?: Resealed; seen?: Seen; onSuspicion?: "fail" } = {},
): Promise<RestoreTestResult> {
  return restoreAndCheck({
    source: { ...server.source, ...more },
    ciphertext: { path: instead.path },
    sha256: instead.sha256,
    identities: [place.identity],
    scratchDir: place.scratch,
    backupMetadata: JSON.parse(JSON.stringify({ ...made.sourceMetadata, ...sizeOf(instead) })) as Record<
      string,
      unknown
    >,
    ...(seen === undefined ? {} : { seen }),
    signal: never,
  });
}

/** After three tests that saw the same. */
function usually(profile: Profile | undefined): Seen {
  const tests = ["2026-11-20", "2026-11-19", "2026-11-18"].map((day) => {
    const at = `${day}T03:00:00.000Z`;
    return { at, madeAt: at, backupId: `bkp_${day}`, checks: [], ...(profile ? { profile } : {}) };
  });
  return new Seen({ source: "shop", tests, now: Date.parse("2026-11-23T12:00:00Z") });
}

/** Runs `sql` at the source, and tests a new backup of it. */
async function after(sql: string, more: { onSuspicion?: "fail" } = {}): Promise<RestoreTestResult> {
  server.sql(`use busy; ${sql}`);
  return testIt(await back({ databases: ["busy"] }), { seen: usually(busy.profile), ...more });
}

test("a profile has counts and rates of each kind of column, nothing of small tables, and no value", () => {
  expect(busy.reason).toBeUndefined();
  const tables = busy.profile?.tables ?? [];
  expect(tables.map(({ name }) => name)).toEqual(["busy.`we ;ird``t`", "busy.orders"]);
  const columns = new Map(tables[1]?.columns.map(({ name, ...rest }) => [name, rest]));
  expect(tables[1]?.rows).toBe(ROWS);
  expect([...columns.keys()].toSorted()).toEqual(
    ["at", "doc", "flags", "id", "kind", "mail", "note", "price", "raw", "spot"].toSorted(),
  );
  expect(columns.get("note")).toMatchObject({ nulls: 0, random: 0 });
  expect(columns.get("note")?.distinct).toBeGreaterThan(950);
  expect(columns.get("note")?.length).toBeGreaterThan(45);
  expect(columns.get("mail")?.nulls).toBeGreaterThan(235);
  expect(columns.get("mail")?.nulls).toBeLessThan(265);
  expect(columns.get("raw")).toMatchObject({ random: 0 });
  expect(columns.get("raw")?.length).toBeGreaterThan(25);
  expect(columns.get("doc")?.length).toBeGreaterThan(8);
  expect(columns.get("at")?.newest).toBe("2026-11-01");
  expect(columns.get("price")?.distinct).toBeLessThan(100);
  expect(columns.get("flags")?.distinct).toBeLessThan(2);
  expect(columns.get("spot")).toEqual({ nulls: 0 });
  expect(tables[0]).toMatchObject({
    rows: 60,
    columns: [
      { name: "a `b", nulls: 0, distinct: 1000 },
      { name: "gone", nulls: 1000 },
    ],
  });
  expect(busy.profile).toMatchObject({ left_out: 1, suspicious: [] });
  expect(JSON.stringify(busy.profile)).not.toMatch(/neighbours|customer1|chair|only/);
});

test("an honest tenth more of the same is not suspicious", async () => {
  const grown = await after(
    `insert into orders (id, at, note, mail, raw, doc, price, flags, kind, spot)
      select id + 100000, at, concat(note, '!'), mail, raw, doc, price, flags, kind, spot from orders where id % 10 = 0`,
  );
  expect(grown.result, grown.reason).toBe("passed");
  expect(grown.profile?.suspicious).toEqual([]);
});

test("a hundredth of a column encrypted in place is suspicious, and fails only where the source says so", async () => {
  const values = Array.from({ length: ROWS / 100 }, (_, at) => [
    at * 100 + 1,
    randomBytes(48).toString("base64"),
  ]);
  const sql = `update orders join (${values
    .map(([id, note]) => `select ${id} as id, '${note}' as note`)
    .join(" union all ")}) v on v.id = orders.id set orders.note = v.note`;
  const failed = await after(sql, { onSuspicion: "fail" });
  expect(failed.result).toBe("failed");
  expect(failed.reason).toContain("attestore accept shop busy.orders --because REASON");
  expect(failed.profile?.suspicious).toEqual([
    { table: "busy.orders", column: "note", measure: "random", now: expect.any(Number), before: 0 },
  ]);
});
