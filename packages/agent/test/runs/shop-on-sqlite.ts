import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach } from "vitest";
import type { CheckConfig, SourceConfigOf } from "../../src/config/source-config.ts";
import { type RestoreTestResult, restoreAndCheck } from "../../src/runs/restore-and-check.ts";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import { backUp } from "./back-and-test.ts";
import { makeTestPlace, type TestPlace } from "./scratch.ts";

export const never = new AbortController().signal;
export let place: TestPlace;
export let source: SourceConfigOf<"sqlite">;

/** For a file of tests: a shop's SQLite database for each of them, as a source. */
export function useShopOnSqlite(): void {
  beforeEach(async () => {
    place = await makeTestPlace();
    source = {
      slug: "shop",
      engine: "sqlite",
      sandbox: "process",
      checkTimeout_s: 30,
      checks: [],
      path: join(place.dir, "shop.sqlite"),
    };
    const database = new DatabaseSync(source.path);
    database.exec(`
      create table items (id integer primary key, name text not null, price real, picture blob);
      create index items_name on items (name);
      create view cheap as select * from items where price < 10;
      create table "odd ""name" (large integer);
      insert into "odd ""name" values (9007199254740993);
      with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000)
        insert into items (name, price) select 'item ' || i, i * 0.1 from n;
    `);
    database.close();
  });
  afterEach(() => place.remove());
}

/** For the rest of a test. */
export function changeSource(change: Partial<SourceConfigOf<"sqlite">>): void {
  source = { ...source, ...change };
}

export const back = (signal = never): Promise<MadeBackup> => backUp(place, source, signal);

export function testIt(
  made: Pick<MadeBackup, "path" | "sha256"> & Partial<MadeBackup>,
  checks: CheckConfig[] = [],
  metadata: object = made.sourceMetadata ?? {},
): Promise<RestoreTestResult> {
  return restoreAndCheck({
    source: { ...source, checks },
    ciphertext: { path: made.path },
    sha256: made.sha256,
    identities: [place.identity],
    scratchDir: place.scratch,
    backupMetadata: JSON.parse(JSON.stringify(metadata)) as Record<string, unknown>,
    signal: never,
  });
}
