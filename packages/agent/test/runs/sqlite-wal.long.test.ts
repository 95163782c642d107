import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { SourceConfigOf } from "../../src/config/source-config.ts";
import { unopenedWal, whileUnopened } from "../../src/engines/sqlite/unopened-wal.ts";
import { MALLORY, moduleOf, programAs } from "../local/second-user.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { makeTestPlace, type TestPlace } from "./scratch.ts";

/** Databases in WAL mode, which SQLite itself reads only with two more files beside them. */

let place: TestPlace;
let directory: string;
let path: string;

beforeEach(async () => {
  place = await makeTestPlace();
  directory = join(place.dir, "app");
  mkdirSync(directory);
  path = join(directory, "app db?.sqlite");
  const database = new DatabaseSync(path);
  database.exec("pragma journal_mode = wal; create table items (n); insert into items values (1), (2)");
  database.close();
  chmodSync(path, 0o644);
});
afterEach(() => place.remove());

const source = (): SourceConfigOf<"sqlite"> => ({
  slug: "app",
  engine: "sqlite",
  sandbox: "process",
  checkTimeout_s: 30,
  checks: [],
  path,
});

/** What a user who owns nothing here can back up: the tables with their rows, or an error. */
function backedUpByMallory(): unknown {
  const scratch = join(place.dir, "theirs");
  mkdirSync(scratch);
  chownSync(scratch, MALLORY.uid, MALLORY.gid);
  const { output } = programAs(
    MALLORY,
    `import { open } from "node:fs/promises";
     import { dumpSqlite } from ${moduleOf("engines/sqlite/dump.ts")};
     const source = ${JSON.stringify(source())};
     const context = { scratchDir: ${JSON.stringify(scratch)}, signal: new AbortController().signal };
     const dump = await dumpSqlite(source, context).catch((error) => error);
     if (dump instanceof Error) console.log(JSON.stringify(dump.message));
     else {
       const file = await open(${JSON.stringify(join(scratch, "dump"))}, "w");
       for await (const piece of dump.content) await file.write(piece);
       await file.close();
       console.log(JSON.stringify((await dump.metadata()).tables.map(({ name, rows }) => ({ name, rows }))));
     }
     await dump.close?.();`,
  );
  return JSON.parse(output);
}

/** As a killed application leaves it: its last rows are in the log. */
function leaveLog(): void {
  const program = `import sqlite3, os
c = sqlite3.connect(${JSON.stringify(path)}); c.execute("insert into items values (3)"); c.commit(); os._exit(0)`;
  execFileSync("python3", ["-c", program]);
}

describe("that nobody has open", () => {
  test.each([
    ["may only read it", 0o755],
    ["may create files beside it", 0o777],
  ])("are backed up by a user who %s, and nothing is left beside them", (_who, mode) => {
    chmodSync(directory, mode);
    expect(backedUpByMallory()).toEqual([{ name: "items", rows: 2 }]);
    expect(readdirSync(directory)).toEqual(["app db?.sqlite"]);
  });

  test("are compared with their copy, which is in WAL mode too", async () => {
    const made = await backUp(place, source());
    const tested = await testBackup(place, source(), made);
    expect(tested.reason).toBeUndefined();
    const content = tested.checks.find(({ id }) => id === "inferred:content");
    expect(content?.observed).toMatchObject({ tables: 1, differing: 0, not_compared: 0 });
    expect(readdirSync(directory)).toEqual(["app db?.sqlite"]);
  });

  test("are read again if somebody writes to them meanwhile, and in the usual way once they are open", async () => {
    const read: string[] = [];
    const writing = await whileUnopened(path, (uri) => {
      read.push(uri);
      if (read.length === 1) {
        const database = new DatabaseSync(path);
        database.exec("insert into items values (3)");
        database.close();
      }
      return Promise.resolve(read.length);
    });
    expect(writing).toEqual({ result: 2 });
    expect(new Set(read).size).toBe(1);

    const application = new DatabaseSync(path);
    application.exec("insert into items values (4)");
    expect(await unopenedWal(path)).toBeNull();
    application.close();
    expect(await unopenedWal(path)).not.toBeNull();
  });
});

describe("whose application was killed", () => {
  test("are backed up with what is in their log, and stay as they are", () => {
    leaveLog();
    execFileSync("rm", [`${path}-shm`]);
    const files = [path, `${path}-wal`];
    const left = files.map((file) => readFileSync(file));
    for (const file of files) chmodSync(file, 0o644);
    expect(backedUpByMallory()).toEqual([{ name: "items", rows: 3 }]);
    // What is stored is this file alone.
    expect(
      execFileSync("sqlite3", [join(place.dir, "theirs/dump"), "select count(*) from items"]).toString(),
    ).toBe("3\n");
    expect(readdirSync(directory)).toEqual(["app db?.sqlite", "app db?.sqlite-wal"]);
    expect(files.map((file) => readFileSync(file))).toEqual(left);
  });

  test("and whose log may not be read are not backed up, and the message names it", () => {
    leaveLog();
    execFileSync("rm", [`${path}-shm`]);
    chmodSync(`${path}-wal`, 0o600);
    expect(backedUpByMallory()).toMatch(
      /app db\?\.sqlite-wal cannot be read \(EACCES\): let the agent's user/,
    );
  });
});

test("a file that is no database, or is encrypted, is refused with advice", async () => {
  writeFileSync(path, "x".repeat(8192));
  await expect(backUp(place, source())).rejects.toMatchObject({
    code: "dump_failed",
    message: expect.stringMatching(/file is not a database\. .* is no SQLite database, or it is encrypted/),
  });
});
