import { afterAll, beforeAll, expect, test } from "vitest";
import { heartbeat, startTestService, type TestService } from "../../../test/service.ts";
import { clientNetwork } from "./client-network.ts";
import { DatabaseRateLimits, MemoryRateLimits, type RateLimitStore } from "./rate-limit-store.ts";
import { removeExpired } from "./remove-expired.ts";
import { RATE_LIMITS } from "./rate-limits.ts";

let service: TestService;
beforeAll(async () => {
  // A window of a day: none ends while the test runs, except around midnight of UTC, where hits would start again.
  service = await startTestService({
    rateLimits: { default: { ...RATE_LIMITS.default, limit: 3, window_s: 86_400 } },
  });
});
afterAll(() => service.close());

test("a credential's calls are counted, told in every answer, and refused beyond the limit", async () => {
  const org = await service.addOrg();
  const agent = await service.attach(org);
  const other = await service.attach(org);
  const answers = [];
  for (let n = 0; n < 5; n++) answers.push(await agent.get("/v1/log/head"));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429, 429]);
  expect(answers.map(({ headers }) => headers["ratelimit"]?.replace(/;t=\d+$/, ""))).toEqual(
    [2, 1, 0, 0, 0].map((left) => `"default";r=${left}`),
  );
  for (const { headers } of answers) expect(headers["ratelimit-policy"]).toBe('"default";q=3;w=86400');
  const refused = answers.at(-1);
  expect(refused?.json["error"]).toBe("rate_limited");
  const wait_s = Number(refused?.headers["retry-after"]);
  expect(wait_s).toBeGreaterThanOrEqual(1);
  expect(wait_s).toBeLessThanOrEqual(86_400);
  expect(refused?.json["details"]).toEqual({ retry_after_s: wait_s });
  // Neither another agent nor a heartbeat is held up by it.
  expect((await other.get("/v1/log/head")).status).toBe(200);
  const beat = await agent.post("/v1/heartbeat", heartbeat());
  expect([beat.status, beat.headers["ratelimit"]]).toEqual([200, undefined]);
});

test("an unknown token counts against nobody", async () => {
  for (let n = 0; n < 5; n++) {
    const answer = await service.call({
      method: "GET",
      path: "/v1/log/head",
      token: `ats_${"A".repeat(43)}`,
    });
    expect(answer.status).toBe(401);
  }
});

test.each<[string, () => RateLimitStore]>([
  ["memory", () => new MemoryRateLimits()],
  ["database", () => new DatabaseRateLimits(service.database)],
])("%s counts each hit once, however many at a time, and reading counts none", async (name, create) => {
  const store = create();
  const counts = await Promise.all(Array.from({ length: 40 }, () => store.add(`test:${name}`, 86_400)));
  expect(counts.map(({ hits }) => hits).sort((a, b) => a - b)).toEqual(
    Array.from({ length: 40 }, (_, n) => n + 1),
  );
  expect((await store.read(`test:${name}`, 86_400)).hits).toBe(40);
  expect((await store.read(`test:${name}`, 86_400)).hits).toBe(40);
  expect((await store.read("test:another", 86_400)).hits).toBe(0);
  for (const { resets_s } of counts) expect(resets_s).toBeGreaterThanOrEqual(1);
});

test("a window of one second ends", async () => {
  for (const store of [new MemoryRateLimits(), new DatabaseRateLimits(service.database)]) {
    await store.add("test:short", 1);
    await expect.poll(async () => (await store.read("test:short", 1)).hits, { timeout: 3000 }).toBe(0);
  }
});

test("what is past its time is removed, and nothing else", async () => {
  const store = new DatabaseRateLimits(service.database);
  await store.add("test:kept", 3600);
  await service.pool.query("insert into rate_limits values ('test:ended', now() - interval '3 hours', 5)");
  await service.pool.query(
    "insert into idempotency_keys values ('a', 'a', 200, 'x', null, null, false, now(), now() - interval '1 s'), ('b', 'b', 200, 'x', null, null, false, now(), now() + interval '1 h')",
  );
  expect(await removeExpired(service.database, RATE_LIMITS)).toBeGreaterThanOrEqual(2);
  const keys = await service.pool.query("select scope_sha256 from idempotency_keys");
  expect(keys.rows).toEqual([{ scope_sha256: Buffer.from("b") }]);
  const { rows } = await service.pool.query(
    "select bucket from rate_limits where bucket in ('test:kept', 'test:ended')",
  );
  expect(rows).toEqual([{ bucket: "test:kept" }]);
});

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:DB8:0001:2::6", "2001:db8:1:2::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
])("%s is counted as %s", (address, network) => {
  expect(clientNetwork(address)).toBe(network);
});
