import { randomBytes } from "node:crypto";
import { newId } from "@attestore/contract";
import { CompiledQuery } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestDatabase, type TestDatabase } from "../../../test/database/test-database.ts";
import type { Removal, RemovalLimits } from "../database/remove-in-batches.ts";
import { RATE_LIMITS } from "./route/rate-limits.ts";
import { removeExpired } from "./remove-expired.ts";

const DAY_MS = 86_400_000;
const { signal } = new AbortController();

let world: TestDatabase;
beforeAll(async () => {
  world = await openTestDatabase();
});
afterAll(() => world.close());

async function called(daysAgo: number): Promise<string> {
  const at = new Date(Date.now() - daysAgo * DAY_MS);
  const id = newId("apiLog", at.getTime());
  await world.database
    .insertInto("api_logs")
    .values({
      id,
      actor_kind: "console",
      method: "RUN",
      route: "org add",
      path: "org add",
      status: 200,
      duration_ms: 0,
      address: "console",
      request_id: newId("request"),
      created_at: at,
    })
    .execute();
  return id;
}

function remove(apiLogDays: number, limits: Partial<RemovalLimits> = {}): Promise<Removal> {
  return removeExpired(world.byClock, { rateLimits: RATE_LIMITS, apiLogDays }, { signal, ...limits });
}

test("rows of the API log are removed after their days, and not before", async () => {
  const [old, young] = [await called(30.1), await called(29.9)];
  const ids = async (): Promise<string[]> =>
    (await world.database.selectFrom("api_logs").select("id").orderBy("id").execute()).map(({ id }) => id);
  await remove(31);
  expect(await ids()).toEqual([old, young]);
  expect(await remove(30)).toEqual({ removed: 1, isUnfinished: false });
  expect(await ids()).toEqual([young]);
});

test("undecided interactive attaches are removed a month after they expired, decided ones never", async () => {
  const attach = async (daysAgo: number, status: "pending" | "denied"): Promise<string> => {
    const at = new Date(Date.now() - daysAgo * DAY_MS);
    const id = newId("bootstrap", at.getTime());
    await world.database
      .insertInto("bootstraps")
      .values({
        id,
        code_sha256: randomBytes(32),
        poll_token_sha256: randomBytes(32),
        name: "host-1",
        hostname: "host-1",
        platform: "linux",
        agent_version: "1",
        public_key: randomBytes(32),
        address: "192.0.2.1",
        status,
        created_at: at,
        expires_at: new Date(at.getTime() + 900_000),
      })
      .execute();
    return id;
  };
  const old = await attach(31, "pending");
  const kept = [await attach(31, "denied"), await attach(29, "pending")];
  await remove(30);
  const rows = await world.database.selectFrom("bootstraps").select("id").orderBy("id").execute();
  expect(rows.map(({ id }) => id)).toEqual(kept.toSorted());
  expect(kept).not.toContain(old);
});

test("remembered answers of the same moment are all removed, however small the batches are", async () => {
  await world.database.executeQuery(
    CompiledQuery.raw(`
      insert into idempotency_keys (scope_sha256, fingerprint, status, body, created_at, expires_at)
      select sha256(n::text::bytea), '', 200, 'x', now(), now() - interval '1 s' * (n / 10) from generate_series(11, 40) as n`),
  );
  expect(await remove(30, { batch: 3 })).toEqual({ removed: 30, isUnfinished: false });
});

test("an answer that somebody holds does not keep the others from being removed", async () => {
  await world.database.executeQuery(
    CompiledQuery.raw(`
      insert into idempotency_keys (scope_sha256, fingerprint, status, body, created_at, expires_at)
      select sha256(n::text::bytea), '', 200, 'x', now(), now() - interval '1 s' * n from generate_series(1, 10) as n`),
  );
  await world.database.transaction().execute(async (tx) => {
    await tx.executeQuery(
      CompiledQuery.raw("select from idempotency_keys where scope_sha256 = sha256('7') for update"),
    );
    expect(await remove(30, { batch: 2 })).toEqual({ removed: 9, isUnfinished: false });
  });
  expect(await remove(30)).toEqual({ removed: 1, isUnfinished: false });
});
