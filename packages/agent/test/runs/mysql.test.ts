import { comparedContentText } from "@attestore/proof";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { makeTestPlace, type TestPlace } from "./scratch.ts";
import { type SourceMariadb, startSourceMariadb } from "./source-mariadb.ts";

/**
 * What MySQL has and MariaDB has not, or has otherwise: an undamaged backup is not blamed for it.
 * `tools/test-databases sid` runs this with MySQL.
 */

let place: TestPlace;
let server: SourceMariadb;

beforeAll(async () => {
  place = await makeTestPlace();
  server = await startSourceMariadb(place.dir);
});

afterAll(async () => {
  await server?.close();
  await place?.remove();
});

async function madeAndTested(sql: string): Promise<RestoreTestResult> {
  server.sql(`drop database if exists shop; create database shop; use shop; ${sql}`);
  return testBackup(place, server.source, await backUp(place, server.source));
}

function passes(tested: RestoreTestResult, compared: string): void {
  expect(tested.reason).toBeUndefined();
  expect(comparedContentText(tested.checks)).toBe(compared);
}

test("views with joins, however somebody wrote them", async () => {
  const tested = await madeAndTested(
    `create table t (a int, j json); create table u (a int, b int); insert into t values (1, '[1]');
     create view commas as select t.a from t, u, t more where t.a = u.a and (u.b = 1 or u.b = 2) and more.a = 1;
     create view mixed as select t.a from t left join (u, t t2) on t.a = u.a, u v where exists (select 1 from u, t where u.a = v.a);
     create view listed as select t.a, x.v from t, json_table(t.j, '$[*]' columns (v int path '$')) x;
     create view counted as with recursive q as (select 1 n union all select n + 1 from q where n < 5) select q.n from q, t;
     create view \`( join )\` as select 'it''s (\\\\ join )' as said from t natural join u;`,
  );
  passes(tested, "content of 2 tables compared; 8 objects compared");
});

test("numbers, times and bytes in JSON that no dump keeps are named as not compared; all other JSON is compared", async () => {
  // MariaDB's JSON is a text.
  if (server.product === "MariaDB") return;
  const tested = await madeAndTested(
    `create table priced (j json); insert into priced values (json_object('price', cast(5 as decimal(9, 2))));
     create table plain (id int primary key, j json, k json);
     insert into plain values (1, '{"a": 1.5, "b": "\\\\u00e9", "c": 1e100, "n": [null, -0.0, 18446744073709551615]}', null),
       (2, cast(cast('2020-01-01 00:00:00.5' as datetime(3)) as json), cast(st_geomfromtext('POINT(1 2)') as json)),
       (3, json_array(x'00ff', time'10:00:00', date'2020-01-01', b'101'), '"\\\\u0000"')`,
  );
  passes(
    tested,
    "content of 1 table compared; not compared: shop.priced (json_retyped), shop.plain.j (json_types); 4 objects compared",
  );
});

test("a foreign key to columns that are not unique, which older servers took, is restored", async () => {
  if (server.product === "MariaDB") return;
  const tested = await madeAndTested(
    `set session restrict_fk_on_non_standard_key = off; create table parent (id int, k int, key (k));
     create table child (k int, foreign key (k) references parent (k)); insert into parent values (1, 1), (2, 1); insert into child values (1)`,
  );
  passes(tested, "content of 2 tables compared; 6 objects compared");
});

test("what a server has beside its databases is in no dump: the test could not run", async () => {
  if (server.product === "MariaDB") return;
  const wgs = `'GEOGCS["own",DATUM["WGS",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],UNIT["degree",0.017453292519943278],AXIS["Lat",NORTH],AXIS["Lon",EAST]]'`;
  try {
    await expect(
      madeAndTested(
        `create spatial reference system 990001 name 'own' definition ${wgs}; create table g (p point srid 990001)`,
      ),
    ).rejects.toMatchObject({
      code: "sandbox_lacks",
      message: expect.stringContaining("a spatial reference system of the server's own") as string,
    });
    await expect(
      madeAndTested(
        "create tablespace slow add datafile 'slow.ibd'; create table t (a int) tablespace slow; insert into t values (1)",
      ),
    ).rejects.toMatchObject({
      code: "sandbox_lacks",
      message: expect.stringContaining("in a tablespace of the server") as string,
    });
  } finally {
    server.sql("drop database shop; drop tablespace slow; drop spatial reference system 990001");
  }
});
