/**
 * How PostgreSQL finds whether sources are proven: from each source's own newest rows, however long
 * its history, and whatever the statistics say of the others'.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { newId } from "@attestore/contract";
import { listProven, readProofs } from "../src/features/sources/read-proofs.ts";
import { connectDatabase, type DatabaseAccess } from "../src/platform/database/database.ts";
import { readInOrg } from "../src/platform/database/org-scope.ts";
import { silentLogger } from "../src/platform/logging/logger.ts";
import { explaining, gatherPlans, rowsRead } from "./plans/explained.ts";
import { copyRows, multiply } from "./plans/many-rows.ts";
import { startTestService, type TestService } from "./service.ts";
import { makeWorld, type World } from "./tenancy/world.ts";

/** All of one source, and as many other sources without any. */
const MANY = 3000;
/** Of each of these sources no row but its own may be read. */
const ASKED = 200;
const DAY_MS = 86_400_000;
const now = new Date();

let service: TestService;
let world: World;
let owner: DatabaseAccess;
let others: string[];
const { told, stop } = gatherPlans();
beforeAll(async () => {
  service = await startTestService();
  world = await makeWorld(service);
  await multiply(service, world, MANY);
  const { rows } = await service.pool.query<{ id: string }>(
    "select id from sources where org_id <> $1 order by id limit $2",
    [world.org.id, ASKED],
  );
  others = rows.map(({ id }) => id);
  // Of one organisation all of them, so that its scope excludes nothing.
  await service.pool.query("update sources set org_id = $1, slug = right(id, 26) where id = any($2)", [
    world.org.id,
    others,
  ]);
  const connection = explaining(service.connection);
  owner = connectDatabase({ connection, log: silentLogger });
});
afterAll(async () => {
  stop();
  await owner.close();
  await service.close();
});

/** What the statistics may say of a column: as it is, that all rows are alike, or that none are. */
const STATISTICS = { true: "0", alike: "1", unlike: "-1" };

test.for(Object.entries(STATISTICS))(
  "proofs of sources are read from their own rows (statistics: %s)",
  async ([, distinct]) => {
    for (const table of ["receipts", "backups"])
      for (const column of ["source_id", "org_id"])
        await service.pool.query(
          `alter table ${table} alter column ${column} set statistics ${distinct === "0" ? -1 : 0},
            alter column ${column} set (n_distinct = ${distinct})`,
        );
    // Without statistics of the column PostgreSQL goes by their number.
    await service.pool.query(
      "delete from pg_statistic where starelid in ('receipts'::regclass, 'backups'::regclass)",
    );
    await service.pool.query("analyze receipts, backups");
    const asks: [ask: () => Promise<{ size: number }>, found: number][] = [
      // None of them has a test.
      [() => listProven(owner.database, others, now), 0],
      [
        () =>
          readInOrg(owner.database, world.org.id, (tx) =>
            readProofs(tx, { orgId: world.org.id, ids: others }, now),
          ),
        ASKED,
      ],
    ];
    for (const [ask, found] of asks) {
      told.length = 0;
      const { size } = await ask();
      expect(size).toBe(found);
      const read = told.flatMap((plan) => rowsRead(plan, new Set(["receipts", "backups"])));
      expect(read.length).toBeGreaterThan(0);
      expect(read.filter(({ rows }) => rows > ASKED)).toEqual([]);
    }
  },
);

test("a source's proof is read from its tests of the last days, also where it has years of them", async () => {
  const [sources, days] = [others.slice(0, 20), 2 * 365];
  const made = Array.from({ length: sources.length * days }, (_, n) =>
    newId("receipt", Date.now() - Math.floor(n / sources.length) * DAY_MS).slice("rcpt_".length),
  );
  const at = `now() - (n - 1) / ${sources.length} * interval '1 day'`;
  await copyRows(service.pool, world, "receipts", made, {
    id: "'rcpt_' || suffix",
    envelope_sha256: "sha256(suffix::bytea)",
    source_id: `(array['${sources.join("','")}'])[1 + (n - 1) % ${sources.length}]`,
    kind: "'restore_test'",
    // Long ago one failed, and all since have passed.
    result: `case (n - 1) / ${sources.length} when 100 then 'failed' else 'passed' end`,
    created_at: at,
    happened_at: at,
  });
  await service.pool.query("vacuum analyze receipts");
  const fewRead = (): void => {
    const read = told.flatMap((plan) => rowsRead(plan, new Set(["receipts", "backups"])));
    expect(read.length).toBeGreaterThan(0);
    expect(read.filter(({ rows }) => rows > sources.length * 12)).toEqual([]);
  };
  told.length = 0;
  const proofs = await readInOrg(owner.database, world.org.id, (tx) =>
    readProofs(tx, { orgId: world.org.id, ids: sources }, now),
  );
  expect([...proofs.values()].map(({ failedAt }) => failedAt)).toEqual(sources.map(() => null));
  fewRead();
  told.length = 0;
  // Each has passed, but no backup of its own.
  expect(await listProven(owner.database, others, now)).toEqual(new Set());
  expect(told.map(({ "Query Text": text }) => text).join()).toContain("from sources");
  fewRead();
});
