import { comparedContentText } from "@attestore/proof";
import { afterAll, beforeAll, expect, test } from "vitest";
import { exactObjectsMetadata, objectsMetadata } from "../../src/engines/content/tagged-objects.ts";
import {
  EARLIER_OBJECTS,
  earlierObjects,
  WRITES_OPTIONS,
} from "../../src/engines/postgresql/content/earlier-objects.ts";
import { MORE_KINDS } from "../../src/engines/postgresql/content/more-objects.ts";
import {
  databaseObjects,
  RESTORED_OBJECTS,
  withEarlierNames,
} from "../../src/engines/postgresql/content/objects.ts";
import { LIST_PRIVILEGES, privilegesOf } from "../../src/engines/postgresql/privileges/list-privileges.ts";
import { PRINTING } from "../../src/engines/postgresql/schema.ts";
import { openContentKey } from "../../src/runs/content-key.ts";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import { type ObjectSource, objectsOf, startObjectSource } from "./object-source.ts";
import { makeTestPlace, type TestPlace } from "./scratch.ts";

/** Objects, owners and grants of backups by earlier agents are compared as these listed them. */

let place: TestPlace;
let source: ObjectSource;

beforeAll(async () => {
  place = await makeTestPlace();
  source = await startObjectSource(place);
});

afterAll(async () => {
  await source?.server.close();
  await place?.remove();
});

test("a backup by an earlier agent is compared as it was then, and the receipt says so", async () => {
  const whole = await source.back({}, "other");
  const {
    content,
    exact_schema_hash: _,
    ...earlier
  } = whole.sourceMetadata as unknown as Record<string, object>;
  const key = await openContentKey(earlier, [place.identity]);
  const settings = PRINTING.map((each) => `set ${each};`).join("\n");
  const listed = source.server.sql(`\\connect other\n${settings}\n${EARLIER_OBJECTS};`);
  const objects = objectsMetadata(earlierObjects(listed), key!);
  const made = {
    ...whole,
    sourceMetadata: {
      ...earlier,
      content: { ...content, objects },
    } as unknown as MadeBackup["sourceMetadata"],
  };
  const tested = await source.test(made);
  expect(tested.reason).toBeUndefined();
  if (source.server.sql(WRITES_OPTIONS) === "t") {
    expect(objectsOf(tested)).toBeUndefined();
    expect(comparedContentText(tested.checks)).toContain("; objects not compared");
    return;
  }
  const less_exactly = "expressions without casts, parentheses and spaces";
  expect(objectsOf(tested)).toMatchObject({
    result: "passed",
    observed: { objects: objects.count, less_exactly },
  });
  expect(objectsOf(tested, "inferred:schema")).toMatchObject({
    result: "passed",
    observed: { less_exactly },
  });
  expect(comparedContentText(tested.checks)).toContain(
    `; ${objects.count} objects compared, their ${less_exactly}`,
  );
  const failed = await source.test(
    made,
    await source.dumpedAfter("drop index of_three; alter table single alter v set default 'y'", "other"),
  );
  expect(objectsOf(failed)?.observed["differing_objects"]).toBe("index public.of_three (missing)");
  expect(objectsOf(failed, "inferred:schema")).toMatchObject({ result: "failed" });
});

test("a backup that lists objects as agents did before the third version is compared with these alone", async () => {
  source.server.sql(`create database second template template0;
    \\connect second
    create schema "with.dot"; create sequence "with.dot".one; select setval('"with.dot".one', 5);
    create table few (id serial, twice int generated always as (id * 2) stored); alter sequence few_id_seq restart with 7;
    create conversion narrower for 'UTF8' to 'LATIN1' from utf8_to_iso8859_1`);
  const whole = await source.back({}, "second");
  const { content } = whole.sourceMetadata as unknown as { content: { objects: { total: number } } };
  const key = await openContentKey(whole.sourceMetadata, [place.identity]);
  const settings = PRINTING.map((each) => `set ${each};`).join("\n");
  const listed = withEarlierNames(
    databaseObjects(source.server.sql(`\\connect second\n${settings}\n${RESTORED_OBJECTS};`)),
  );
  expect(listed.map(({ name }) => name)).toContain("with.dot.one");
  // The fourth version has the NOT NULL of the column, from PostgreSQL 18 on.
  const major = Number.parseInt(source.server.sql("show server_version"), 10);
  expect(listed).toHaveLength(content.objects.total - (major < 18 ? 3 : 4));
  const objects = exactObjectsMetadata(listed, key!);
  const sourceMetadata = { ...whole.sourceMetadata, content: { ...content, objects } };
  const tested = await source.test({ ...whole, sourceMetadata } as unknown as MadeBackup);
  expect(tested.reason).toBeUndefined();
  expect(objectsOf(tested)).toMatchObject({ result: "passed", observed: { objects: listed.length } });
  // Of a source that did not list the others in time.
  const lacking = { ...objects, left_out: MORE_KINDS.map((kind) => [kind, null]) };
  const named = await source.test({
    ...whole,
    sourceMetadata: { ...whole.sourceMetadata, content: { ...content, objects: lacking } },
  } as unknown as MadeBackup);
  expect(named.reason).toBeUndefined();
  expect(objectsOf(named)).toMatchObject({
    result: "passed",
    observed: {
      objects: listed.length,
      not_looked_at_objects: "objects of 29 kinds such as conversions and languages",
    },
  });
  const reset = await source.dumpedAfter("alter sequence few_id_seq restart with 1", "second");
  const failed = await source.test(whole, reset);
  expect(objectsOf(failed)?.observed["differing_objects"]).toBe("sequence start public.few_id_seq (other)");
});

/** A backup whose owners and grants an earlier agent signed. */
async function signedEarlier(database: string): Promise<readonly [made: MadeBackup, objects: number]> {
  const made = await source.back({}, database);
  const key = await openContentKey(made.sourceMetadata, [place.identity]);
  const settings = PRINTING.map((each) => `set ${each};`).join("\n");
  const listed = privilegesOf(source.server.sql(`\\connect ${database}\n${settings}\n${LIST_PRIVILEGES};`));
  const then = listed.filter(({ kind }) => kind === "privileges" || kind === "default_privileges");
  expect(then.length).toBeLessThan(listed.length);
  const { content } = made.sourceMetadata as unknown as { content: object };
  const privileges = exactObjectsMetadata(then, key!);
  return [
    { ...made, sourceMetadata: { ...made.sourceMetadata, content: { ...content, privileges } } },
    then.length,
  ];
}

test("owners and grants of an earlier agent's backup are compared without large objects and public's owner", async () => {
  source.server.sql(`create database plain;
    \\connect plain
    create table few (id int); grant select on few to public; insert into few values (1);
    select lo_create(0); alter schema public owner to attestore`);
  const [made, objects] = await signedEarlier("plain");
  const tested = await source.test(made);
  expect(tested.reason).toBeUndefined();
  expect(objectsOf(tested, "inferred:privileges")).toMatchObject({
    result: "passed",
    observed: { objects, found: objects },
  });
});

test("owners and grants of an earlier agent's backup with a range type are named and not compared", async () => {
  const [made] = await signedEarlier("shop");
  const tested = await source.test(made);
  expect(tested.reason).toBeUndefined();
  expect(objectsOf(tested, "inferred:privileges")).toBeUndefined();
  expect(comparedContentText(tested.checks)).toContain("objects compared, not compared: owners and grants");
});
