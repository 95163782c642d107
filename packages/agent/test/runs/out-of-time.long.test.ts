import { afterAll, beforeAll, expect, test } from "vitest";
import type { Restored } from "../../src/engines/engine.ts";
import { findSandbox } from "../../src/engines/index.ts";
import { readCiphertext } from "../../src/crypto/ciphertext.ts";
import { unseal } from "../../src/crypto/unseal.ts";
import { openContentKey } from "../../src/runs/content-key.ts";
import { backUp } from "./back-and-test.ts";
import { makeTestPlace, type TestPlace } from "./scratch.ts";
import { type SourcePostgres, startSourcePostgres } from "./source-postgres.ts";

/** A restore test of PostgreSQL whose time for comparing is used up goes on, and says so. */

let place: TestPlace;
let server: SourcePostgres;

beforeAll(async () => {
  place = await makeTestPlace();
  server = await startSourcePostgres(place.dir);
  server.sql(`
    create table orders as select i as id, repeat('x', 100) as note from generate_series(1, 2000) i;
    create database second;
    \\connect second
    create table customers as select i as id from generate_series(1, 2000) i;`);
});

afterAll(async () => {
  await server.close();
  await place.remove();
});

const never = new AbortController().signal;

test("without time, nothing of any database is compared, and nobody interrupted the test", async () => {
  const source = { ...server.source, databases: ["postgres", "second"] };
  const { path, sourceMetadata: metadata } = await backUp(place, source);
  const key = (await openContentKey(metadata, [place.identity])) ?? Buffer.alloc(0);
  const sandbox = await findSandbox(source, metadata);
  const restored: Restored = await sandbox.restore(unseal(readCiphertext({ path }), [place.identity]), {
    scratchDir: place.scratch,
    signal: never,
  });
  try {
    for (const budget_ms of [-5, 0, 1, 2, 4, 8, 16, 32]) {
      const outcomes = await restored.compareContent?.({ metadata, key, budget_ms, signal: never });
      const content = outcomes?.filter(({ id }) => id.startsWith("inferred:content")) ?? [];
      expect(content.every(({ result }) => result === "passed")).toBe(true);
      if (budget_ms < 1) expect(content).toEqual([]);
      await expect(restored.profile?.({ key, budget_ms, signal: never })).resolves.toBeDefined();
    }
  } finally {
    await restored.close();
  }
});
