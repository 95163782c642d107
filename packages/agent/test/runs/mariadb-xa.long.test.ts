import { comparedContentText } from "@attestore/proof";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readCiphertext } from "../../src/crypto/ciphertext.ts";
import { unseal } from "../../src/crypto/unseal.ts";
import { openContentKey } from "../../src/runs/content-key.ts";
import { writeConnectionFile } from "../../src/engines/mariadb/connection/connection.ts";
import type { ListedObjects } from "../../src/engines/mariadb/content/list-objects.ts";
import { listSource } from "../../src/engines/mariadb/content/list-source.ts";
import { signObjects } from "../../src/engines/mariadb/content/sign-objects.ts";
import { mariadb } from "../../src/engines/mariadb/index.ts";
import { findClient } from "../../src/engines/mariadb/connection/programs.ts";
import type { MariadbSession } from "../../src/engines/mariadb/connection/session.ts";
import { openSession } from "../../src/engines/mariadb/connection/source-session.ts";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { makeTestPlace, type TestPlace } from "./scratch.ts";
import { type SourceMariadb, startSourceMariadb } from "./source-mariadb.ts";

/** XA transactions that are prepared at the source, and neither committed nor rolled back yet. */

const NAMED = "not compared: all of the kind prepared transaction";
let place: TestPlace;
let server: SourceMariadb;

beforeAll(async () => {
  place = await makeTestPlace();
  server = await startSourceMariadb(place.dir);
  server.sql(`create database shop; use shop;
    create table orders (id int auto_increment primary key, note varchar(50)) engine = InnoDB;
    create table log (id int auto_increment primary key, note varchar(50)) engine = MyISAM;
    insert into orders (note) values ('one'), ('two'), ('three')`);
});
afterAll(async () => {
  await server?.close();
  await place?.remove();
});

/** MySQL refuses a transaction that fills tables of both kinds. */
const fillsBoth = (): boolean => server.product === "MariaDB";

/** The client ends, and what it has prepared stays. */
const prepare = (name: string, id: number): string =>
  server.sql(`use shop; xa start '${name}';
    insert into orders (note) values ('of ${name}'); update orders set note = 'changed by ${name}' where id = ${id}; ${fillsBoth() ? `insert into log (note) values ('by ${name}');` : ""}
    xa end '${name}'; xa prepare '${name}'`);

async function dumpOf({ path }: MadeBackup): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of unseal(readCiphertext({ path }), [place.identity]))
    pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString("utf8");
}

test("a backup has the rows from before what is prepared, its test passes, and names that it lacks it", async () => {
  prepare("sale", 1);
  const made = await backUp(place, server.source);
  const dump = await dumpOf(made);
  expect(dump).toContain("(1,'one')");
  expect(dump).not.toContain("of sale");
  // A table without transactions has it already, and keeps it after a rollback too.
  expect(dump.includes("by sale")).toBe(fillsBoth());
  const tested = await testBackup(place, server.source, made);
  expect(tested.reason).toBeUndefined();
  expect(tested.result).toBe("passed");
  expect(comparedContentText(tested.checks)).toContain(NAMED);
});

test("the backup's user sees that something is prepared, with the right that its server wants for it", async () => {
  const more = server.product === "MySQL" ? ", xa_recover_admin" : "";
  server.sql(`create user backups@localhost identified by 'x';
    grant select, show view, trigger, event${more} on *.* to backups@localhost`);
  process.env["TEST_XA_URL"] = server.url("backups", "x");
  try {
    const connection = { kind: "env", name: "TEST_XA_URL" } as const;
    const made = await backUp(place, { ...server.source, connection });
    const { content } = made.sourceMetadata as unknown as { content: { objects: object } };
    expect(content.objects).toMatchObject({ left_out: [["prepared_transaction", null]] });
  } finally {
    delete process.env["TEST_XA_URL"];
  }
});

/** The source's objects, as a user lists them to whom the server does not show what is prepared. */
async function listedUnaware(): Promise<ListedObjects | null> {
  server.sql(`create user if not exists unaware@localhost identified by 'x';
    grant select, show view, trigger, event on *.* to unaware@localhost`);
  const client = await findClient();
  const url = server.url("unaware", "x");
  const connection = await writeConnectionFile({ kind: "url", url }, place.scratch);
  const open = async (): Promise<MariadbSession> => {
    const session = await openSession(client, connection, new AbortController().signal);
    const run = session.run.bind(session);
    // MariaDB needs no right for it, so there it gets a statement that it refuses.
    if (server.product === "MariaDB") session.run = (sql) => run(sql === "xa recover" ? `${sql} of` : sql);
    return session;
  };
  try {
    return await listSource(open, ["shop"]);
  } finally {
    await connection.remove();
  }
}

test("where the server does not show what is prepared, that is named, and all the rest is compared", async () => {
  const made = await backUp(place, server.source);
  const key = (await openContentKey(made.sourceMetadata, [place.identity]))!;
  const { content } = made.sourceMetadata as unknown as { content: object };
  const objects = signObjects(await listedUnaware(), await listedUnaware(), key);
  expect(objects?.left_out).toEqual([["unseen_prepared_transaction", null]]);
  const tested = await testBackup(place, server.source, made, {
    metadata: { content: { ...content, objects } },
  });
  expect(tested.reason).toBeUndefined();
  expect(comparedContentText(tested.checks)).toMatch(
    /; \d+ objects compared, not compared: prepared transactions \(the server does not show them\)$/,
  );
});

test("once it is committed, the next backup has it, and nothing is named", async () => {
  server.sql("xa commit 'sale'");
  const made = await backUp(place, server.source);
  const dump = await dumpOf(made);
  expect(dump).toContain("of sale");
  expect(dump).toContain("(1,'changed by sale')");
  const tested = await testBackup(place, server.source, made);
  expect(tested.reason).toBeUndefined();
  expect(comparedContentText(tested.checks)).not.toContain("not compared");
});

test.each(["commit", "rollback"])(
  "a %s while the dump is made ends no backup and fails no test",
  async (how) => {
    prepare(how, 2);
    const key = Buffer.alloc(32, 7);
    const dump = await mariadb.dump(server.source, {
      scratchDir: place.scratch,
      signal: new AbortController().signal,
      contentKey: key,
    });
    try {
      let text = "";
      for await (const piece of dump.content) {
        if (text === "") server.sql(`xa ${how} '${how}'`);
        text += piece.toString();
      }
      expect(text).not.toContain(`of ${how}`);
      const { content } = (await dump.metadata()) as unknown as { content: { objects: object } };
      expect(content.objects).toMatchObject({ left_out: [["prepared_transaction", null]] });
    } finally {
      await dump.close();
    }
  },
);
