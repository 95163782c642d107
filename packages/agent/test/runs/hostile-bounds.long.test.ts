/**
 * Dumps whose own statements fill the disk, never end, or would outlive their test, at each level
 * at which this host holds a restore.
 */
import { mkdirSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { SourceConfigOf } from "../../src/config/source-config.ts";
import { DEFAULT_LIMITS, type SourceLimits } from "../../src/config/source-limits.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import type * as Namespaces from "../../src/sandboxes/isolation/namespaces.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { dumpsIn } from "./dumps-in.ts";
import { childrenNamed, makeTestPlace, type TestPlace } from "./scratch.ts";

const host = vi.hoisted(() => ({ hasNamespaces: true }));
vi.mock(import("../../src/sandboxes/isolation/namespaces.ts"), async (importOriginal) => {
  const original: typeof Namespaces = await importOriginal();
  return {
    ...original,
    // As on a host that makes none, such as most containers.
    enterNamespaces: (request) =>
      host.hasNamespaces ? original.enterNamespaces(request) : Promise.resolve(null),
  };
});

const PROGRAMS = ["postgres", "psql", "mariadbd", "mysqld", "mariadb", "mysql", "node", "tar"];
const DISK: SourceLimits = { ...DEFAULT_LIMITS, restoreDisk: 400 << 20, time_s: 120 };
const TIME: SourceLimits = { ...DEFAULT_LIMITS, time_s: 12 };
/** For what needs no server to start, and takes a whole processor until it is ended. */
const SHORT: SourceLimits = { ...DEFAULT_LIMITS, time_s: 5 };

let place: TestPlace;
let directory: string;
let made = 0;

beforeAll(async () => {
  place = await makeTestPlace();
});
afterAll(() => place.remove());
beforeEach(() => {
  directory = join(place.dir, `dumps-${(made += 1)}`);
  mkdirSync(directory);
});

/** Processes that work in the test's directories, whoever their parent is by now. */
const inPlace = (): string[] =>
  readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`).startsWith(place.dir);
    } catch {
      return false;
    }
  });
const started = (): number[] => PROGRAMS.flatMap((name) => childrenNamed(name));

async function restored(
  name: string,
  content: string | ((path: string) => void),
  more: Partial<SourceConfigOf<"dumps">>,
): Promise<RestoreTestResult> {
  if (typeof content === "string") writeFileSync(join(directory, name), content);
  else content(join(directory, name));
  const source = dumpsIn(directory, more);
  const before = new Set(started());
  const backup = await backUp(place, source);
  try {
    return await testBackup(place, source, backup);
  } finally {
    expect(started().filter((pid) => !before.has(pid))).toEqual([]);
    expect(inPlace()).toEqual([]);
    expect(readdirSync(place.scratch)).toEqual([]);
  }
}

const postgresql = (statements: string): string =>
  `--\n-- PostgreSQL database dump\n--\n\n-- Dumped from database version 15.1\n-- Dumped by pg_dump version 15.1\n\ncreate table public.filled (c text);\nalter table public.filled alter c set storage external;\n${statements}\n--\n-- PostgreSQL database dump complete\n--\n`;
const mariadb = (statements: string): string =>
  `-- MariaDB dump 10.19  Distrib 10.11.6-MariaDB, for debian-linux-gnu (x86_64)\n--\n-- Host: localhost    Database: shop\n-- ------------------------------------------------------\n-- Server version\t10.11.6-MariaDB\n\ncreate table filled (c longtext);\n${statements}\n-- Dump completed on 2026-11-22 10:00:00\n`;

/** What no statement of theirs ends, and what would go on in another process. */
const FILLS = {
  postgresql:
    "do $$ begin loop insert into public.filled select repeat('x', 1000000) from generate_series(1, 50); end loop; end $$;",
  mariadb: `insert into filled values (repeat('x', 4000000));\n${"insert into filled select * from filled;\n".repeat(16)}`,
};
const OUTLIVES = {
  postgresql: "select pg_sleep(100000);",
  mariadb: `create event again on schedule every 1 second do insert into filled values ('x');\nselect sleep(100000);`,
};

describe.each([
  ["namespaces", true],
  ["user", false],
] as const)("held by %s, a dump's own statements", (level, hasNamespaces) => {
  beforeEach(() => {
    host.hasNamespaces = hasNamespaces;
  });
  const held = { isolation: level };

  test.each([
    ["PostgreSQL", "a.sql", postgresql(FILLS.postgresql)],
    ["MariaDB", "a.sql", mariadb(FILLS.mariadb)],
  ])("cannot fill the disk: %s", async (_, name, content) => {
    expect(await restored(name, content, { limits: DISK })).toMatchObject({
      result: "failed",
      reason: expect.stringMatching(
        /of disk space, more than the backup's signed size or limits.restore_disk allows/,
      ),
      runtime: held,
    });
  });

  test.each([
    ["PostgreSQL", "a.sql", postgresql(OUTLIVES.postgresql)],
    ["MariaDB", "a.sql", mariadb(OUTLIVES.mariadb)],
  ])("do not outlive their test: %s", async (_, name, content) => {
    expect(await restored(name, content, { limits: TIME })).toMatchObject({
      result: "failed",
      reason: expect.stringMatching(/did not end within 12 s|cannot be loaded/),
      runtime: held,
    });
  });

  test("as a SQLite file, whose views a check queries, cannot continue either", async () => {
    const write = (path: string): void => {
      const database = new DatabaseSync(path);
      database.exec(
        "create table t (n); insert into t values (1); create view endless as with recursive n(i) as (select 1 union all select i + 1 from n) select i from n order by hex(i) desc;",
      );
      database.close();
    };
    const checks = [{ id: "endless", query: "select i from endless limit 1", expect: "i > 0" }];
    expect(await restored("a.db", write, { checks, limits: SHORT })).toMatchObject({
      result: "failed",
      runtime: held,
    });
  });
});
