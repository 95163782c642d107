import { newId } from "@attestore/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestDatabase, type TestDatabase } from "../database/test-database.ts";
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

test("API calls go when their days are over, and not before", async () => {
  const [old, young] = [await called(30.1), await called(29.9)];
  const ids = async (): Promise<string[]> =>
    (await world.database.selectFrom("api_logs").select("id").orderBy("id").execute()).map(({ id }) => id);
  await removeExpired(world.database, { rateLimits: RATE_LIMITS, apiLogDays: 31 });
  expect(await ids()).toEqual([old, young]);
  expect(await removeExpired(world.database, { rateLimits: RATE_LIMITS, apiLogDays: 30 })).toBe(1);
  expect(await ids()).toEqual([young]);
});
