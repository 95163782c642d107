import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { ENDLESS_S } from "../../../../test/endless-windows.ts";
import { heartbeat, startTestService, type TestService } from "../../../../test/service.ts";
import { clientNetwork } from "./client-network.ts";
import { CountedRateLimits } from "./rate-limit-store.ts";
import { ReservedRateLimits } from "./reserved-rate-limits.ts";
import { removeExpired } from "../remove-expired.ts";
import { RATE_LIMITS } from "../route/rate-limits.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService({
    rateLimits: { default: { ...RATE_LIMITS.default, limit: 3, window_s: ENDLESS_S } },
  });
});
afterAll(() => service.close());

test("a credential's calls are counted, shown in every answer, and refused beyond the limit", async () => {
  const org = await service.addOrg();
  const agent = await service.attach(org);
  const other = await service.attach(org);
  const answers = [];
  for (let n = 0; n < 5; n++) answers.push(await agent.get("/v1/log/head"));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429, 429]);
  expect(answers.map(({ headers }) => headers["ratelimit"]?.replace(/;t=\d+$/, ""))).toEqual(
    [2, 1, 0, 0, 0].map((left) => `"default";r=${left}`),
  );
  for (const { headers } of answers) expect(headers["ratelimit-policy"]).toBe(`"default";q=3;w=${ENDLESS_S}`);
  const refused = answers.at(-1);
  expect(refused?.json["error"]).toBe("rate_limited");
  const wait_s = Number(refused?.headers["retry-after"]);
  expect(wait_s).toBeGreaterThanOrEqual(1);
  expect(wait_s).toBeLessThanOrEqual(ENDLESS_S);
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

const ENDLESS = { limit: 1000, window_s: ENDLESS_S };

test("concurrent hits are each counted once; reading the count adds none", async () => {
  const store = new CountedRateLimits(service.database);
  const counts = await Promise.all(Array.from({ length: 40 }, () => store.add("test:counted", ENDLESS)));
  expect(counts.map(({ hits }) => hits).sort((a, b) => a - b)).toEqual(
    Array.from({ length: 40 }, (_, n) => n + 1),
  );
  expect((await store.read("test:counted", ENDLESS)).hits).toBe(40);
  expect((await store.read("test:counted", ENDLESS)).hits).toBe(40);
  expect((await store.read("test:another", ENDLESS)).hits).toBe(0);
  for (const { resets_s } of counts) expect(resets_s).toBeGreaterThanOrEqual(1);
});

test("reserved hits are counted once, in the order of the waiting calls, with few statements", async () => {
  const statements = countingStatements();
  const store = new ReservedRateLimits(service.database);
  for (let n = 1; n <= 500; n++) expect((await store.add("test:reserved", ENDLESS)).hits).toBe(n);
  expect(statements()).toBeLessThan(50);
  const together = await Promise.all(Array.from({ length: 40 }, () => store.add("test:together", ENDLESS)));
  expect(together.map(({ hits }) => hits)).toEqual(Array.from({ length: 40 }, (_, n) => n + 1));
});

/** A statement of Kysely takes a connection of the pool each time. */
function countingStatements(): () => number {
  const spy = vi.spyOn(service.pool, "connect");
  const before = spy.mock.calls.length;
  return () => spy.mock.calls.length - before;
}

test("of several replicas at once never more than the limit let through, and the last ones one by one", async () => {
  const replicas = Array.from({ length: 4 }, () => new ReservedRateLimits(service.database));
  const limit = { limit: 300, window_s: ENDLESS_S };
  const through = async (bucket: string, calls: number, of: (n: number) => number): Promise<number> => {
    let admitted = 0;
    const one = async (n: number) => {
      const { hits } = (await replicas[of(n)]?.add(bucket, limit)) ?? { hits: Infinity };
      if (hits <= limit.limit) admitted += 1;
    };
    for (let n = 0; n < calls; n += 25)
      await Promise.all(Array.from({ length: 25 }, (_, more) => one(n + more)));
    return admitted;
  };
  expect(await through("test:replicas", 800, (n) => n % 4)).toBe(300);
  // Calls that all move to another replica leave behind what the first had reserved: at most 16.
  await through("test:moved", 100, () => 0);
  const rest = await through("test:moved", 400, () => 1);
  expect(rest).toBeLessThanOrEqual(200);
  expect(rest).toBeGreaterThanOrEqual(200 - 16);
  // A restart forgets what was reserved, and no hit.
  expect(await new ReservedRateLimits(service.database).add("test:moved", limit)).toMatchObject({
    hits: expect.toSatisfy((hits: number) => hits > 300),
  });
});

test("a refused credential costs the database nothing more", async () => {
  const store = new ReservedRateLimits(service.database);
  const limit = { limit: 5, window_s: ENDLESS_S };
  for (let n = 0; n < 6; n++) await store.add("test:over", limit);
  const statements = countingStatements();
  for (let n = 0; n < 100; n++) expect((await store.add("test:over", limit)).hits).toBeGreaterThan(5);
  expect(statements()).toBe(0);
});

test("a window of one second ends", async () => {
  const second = { limit: 1, window_s: 1 };
  const counted = new CountedRateLimits(service.database);
  await counted.add("test:short", second);
  await expect.poll(async () => (await counted.read("test:short", second)).hits).toBe(0);
  const reserved = new ReservedRateLimits(service.database);
  while ((await reserved.add("test:brief", second)).hits <= 1);
  await expect.poll(async () => (await reserved.add("test:brief", second)).hits).toBe(1);
});

test("only expired counts are removed", async () => {
  const store = new CountedRateLimits(service.database);
  await store.add("test:kept", { limit: 1, window_s: 1 });
  await service.pool.query("insert into rate_limits values ('test:ended', now() - interval '3 days', 5)");
  await service.pool.query(
    "insert into idempotency_keys values ('a', 'a', 200, 'x', null, null, false, now(), now() - interval '1 s'), ('b', 'b', 200, 'x', null, null, false, now(), now() + interval '1 h')",
  );
  const { signal } = new AbortController();
  const { removed } = await removeExpired(
    service.byClock,
    { rateLimits: RATE_LIMITS, apiLogDays: 400 },
    { signal },
  );
  expect(removed).toBeGreaterThanOrEqual(2);
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
