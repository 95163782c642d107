import { comparedContentText } from "@attestore/proof";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type SourceMariadb, startSourceMariadb } from "../source-mariadb.ts";
import {
  back,
  constraintsOf,
  controlOf,
  failedOf,
  kindsOf,
  place,
  run,
  source,
  testIt,
  useDumpsDirectory,
} from "./dumps-directory.ts";

useDumpsDirectory();

let mariadb: SourceMariadb;

beforeAll(async () => {
  mariadb = await startSourceMariadb(place.dir);
  mariadb.sql(
    `create database shop; use shop; create table orders (id int primary key, total int check (total > 0), unique (total)); insert into orders (id) values (1), (2), (3);
    create table parts (o int, foreign key (o) references orders (id)); create trigger t before insert on parts for each row set new.o = new.o; create trigger u after insert on parts for each row do 1;
    create procedure p() select 1; create event e on schedule every 1 day do select 1; create view v as select * from orders;`,
  );
});

afterAll(() => mariadb?.close());

test("a dump of mysqldump without the name of a database in it is restored and proven", async () => {
  const { socket } = mariadb;
  const dump = (options: string): Buffer =>
    run(`mariadb-dump --no-defaults --socket=${socket} --user=root ${options} shop >shop.sql`);
  dump("--routines --events");
  const of = source({
    checks: [{ id: "orders", query: "select count(*) as n from orders", expect: "n = 3" }],
  });
  const backup = await back(of);
  const tested = await testIt(of, backup);
  expect(tested.reason).toBeUndefined();
  expect(tested.result).toBe("passed");
  expect(kindsOf(tested)?.observed).toEqual({
    objects: 10,
    indexes: 3,
    constraints: 2,
    triggers: 2,
    functions: 1,
    views: 1,
    events: 1,
  });
  expect(controlOf(tested, "orders")?.noticed).toEqual(["an empty restored.orders"]);
  expect(comparedContentText(tested.checks)).toContain("content of 2 tables compared");
  const objects = tested.checks.find(({ id }) => id === "inferred:objects");
  expect(objects?.observed).toMatchObject({ objects: 10, differing: 0, compared_with: "dump" });
  expect(objects?.observed).not.toHaveProperty("not_compared");
  expect(constraintsOf(tested)).toMatchObject({ result: "passed", observed: { foreign_keys: 1 } });
  dump("--skip-triggers");
  const lost = await testIt(of, await back(of), tested);
  expect(failedOf(lost)).toEqual(["inferred:kinds"]);
  expect(lost.reason).toContain("saw: triggers 0 of 2, functions 0 of 1, events 0 of");
  run("sed -i '/Dump completed/d' shop.sql");
  expect((await testIt(of, await back(of))).reason).toContain("cut short");

  // The server's own databases are declared, and no copy gets them.
  dump("--routines --databases mysql");
  const whole = await testIt(of, await back(of));
  expect(whole.reason).toBeUndefined();
  expect(whole.checks.find(({ id }) => id === "inferred:objects")?.observed["objects"]).toBe(10);

  dump("");
  run("cp shop.sql one && sed '/^LOCK TABLES/,$d' one >shop.sql && cat one >>shop.sql");
  expect((await testIt(of, await back(of))).reason).toContain("the file has several dumps, and one was cut");
});
