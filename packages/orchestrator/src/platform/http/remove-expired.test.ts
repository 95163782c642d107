import { randomBytes } from "node:crypto";
import { newId } from "@attestore/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestDatabase, type TestDatabase } from "../../../test/database/test-database.ts";
import { RATE_LIMITS } from "./rate-limits.ts";
import { removeExpired } from "./remove-expired.ts";

const DAY_MS = 86_400_000;

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

test("rows of the API log are removed after their days, and not before", async () => {
  const [old, young] = [await called(30.1), await called(29.9)];
  const ids = async (): Promise<string[]> =>
    (await world.database.selectFrom("api_logs").select("id").orderBy("id").execute()).map(({ id }) => id);
  await removeExpired(world.byClock, { rateLimits: RATE_LIMITS, apiLogDays: 31 });
  expect(await ids()).toEqual([old, young]);
  expect(await removeExpired(world.byClock, { rateLimits: RATE_LIMITS, apiLogDays: 30 })).toBe(1);
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
  await removeExpired(world.byClock, { rateLimits: RATE_LIMITS, apiLogDays: 30 });
  const rows = await world.database.selectFrom("bootstraps").select("id").orderBy("id").execute();
  expect(rows.map(({ id }) => id)).toEqual(kept.toSorted());
  expect(kept).not.toContain(old);
});
