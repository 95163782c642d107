import { comparedContentText } from "@attestore/proof";
import { afterAll, beforeAll, expect, test } from "vitest";
import { postgresql } from "../../src/engines/postgresql/index.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { makeTestPlace, type TestPlace } from "./scratch.ts";
import { type SourcePostgres, startSourcePostgres } from "./source-postgres.ts";

/** What a source lists in another way after the dump of PostgreSQL than before it. */

let place: TestPlace;
let server: SourcePostgres;

beforeAll(async () => {
  place = await makeTestPlace();
  server = await startSourcePostgres(place.dir);
  server.sql(`create role publisher superuser; create role owner;
    create table orders (id int primary key); insert into orders values (1); alter table orders owner to owner;
    create publication news for all tables; alter publication news owner to publisher;`);
});
afterAll(async () => {
  await server?.close();
  await place?.remove();
});

/** The backup's `content`, where that SQL ran while the dump was made. */
async function contentAfter(sql: string): Promise<Record<string, unknown>> {
  const contentKey = Buffer.alloc(32, 7);
  const signal = new AbortController().signal;
  const dump = await postgresql.dump(server.source, { scratchDir: place.scratch, signal, contentKey });
  try {
    let isFirst = true;
    for await (const _ of dump.content) {
      if (isFirst) server.sql(sql);
      isFirst = false;
    }
    const { content } = (await dump.metadata()) as unknown as { content: Record<string, unknown> };
    return content;
  } finally {
    await dump.close();
  }
}

test("the lists that changed during the dump are absent, and the backup says why", async () => {
  const content = await contentAfter(
    "alter role publisher rename to herald; alter role owner rename to proprietor",
  );
  expect(content).toMatchObject({ absent: { privileges: "changed", unrestored: "changed" } });
  expect(content).not.toHaveProperty("privileges");
  expect(content).not.toHaveProperty("unrestored");
  expect(await contentAfter("insert into orders values (2)")).not.toHaveProperty("absent");
});

test.each([
  ["changed", " (they changed during the dump)"],
  ["not_listed", " (the source did not list them in time)"],
  // As of an earlier agent.
  [undefined, ""],
])("a test names what it cannot compare without these lists: %s", async (why, because) => {
  const made = await backUp(place, server.source);
  const { content } = made.sourceMetadata as unknown as { content: Record<string, unknown> };
  const { privileges: _privileges, unrestored: _unrestored, ...rest } = content;
  const absent = why === undefined ? {} : { absent: { privileges: why, unrestored: why } };
  const tested = await testBackup(place, server.source, made, {
    metadata: { content: { ...rest, ...absent } },
  });
  expect(tested.reason).toBeUndefined();
  expect(comparedContentText(tested.checks)).toBe(
    `content of 1 table compared; 4 objects compared, not compared: publications and other objects that a test does not restore${because}, owners and grants${because}`,
  );
});
