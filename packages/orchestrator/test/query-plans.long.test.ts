/**
 * How PostgreSQL answers every call of the service when an organisation has much and there are many
 * of them: it tells the plan of each query as it ran. None of them reads a large table through, or
 * more rows than a page needs. The calls come from the routes.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Call } from "./client.ts";
import { callsOf, measurableRoutes, tokenOf } from "./plans/calls.ts";
import { complaintsAbout, explaining, gatherPlans, spreadWithOthers } from "./plans/explained.ts";
import { multiply } from "./plans/many-rows.ts";
import { startTestService, type Replica, type TestService } from "./service.ts";
import { nameOf } from "./tenancy/fill.ts";
import { ownAddress } from "./client.ts";
import { makeWorld, type World } from "./tenancy/world.ts";

/** Of each kind: enough that the plans are those of a million. */
const MANY = 6000;
const UNLIMITED = {
  limit: 1_000_000,
  window_s: 60,
  per: "credential",
  counts: "calls",
  kept: "reserved",
} as const;

let service: TestService;
let replica: Replica;
let world: World;
let operator: string;
let large: Set<string>;
const mixed = new Set<string>();
const { told, stop } = gatherPlans();
beforeAll(async () => {
  service = await startTestService({ rateLimits: { default: UNLIMITED } });
  world = await makeWorld(service);
  operator = (await service.signIn(null)).token;
  large = await multiply(service, world, MANY);
  replica = await service.listen(explaining(service.connection));
});
afterAll(async () => {
  stop();
  await replica.close();
  await service.close();
});

async function complaintsOf(call: Call, token: string | undefined): Promise<string[]> {
  told.length = 0;
  const answer = await replica.call({
    ...call,
    ...(token === undefined ? { from: ownAddress() } : { token }),
  });
  expect(answer.status, `${call.method} ${call.path} ${answer.body.toString()}`).toBeLessThan(500);
  for (const tables of told.map(spreadWithOthers)) if (tables !== null) mixed.add(tables);
  return told.flatMap((one) => complaintsAbout(one, large));
}

test("the test sees the plans", async () => {
  await complaintsOf({ method: "GET", path: `/api/orgs/${world.org.id}/receipts` }, world.tokens.owner);
  expect(told.some(({ "Query Text": text }) => text.includes("receipts"))).toBe(true);
  for (const name of ["receipts", "events", "backups", "commands", "api_logs", "log_leaves"])
    expect(large).toContain(name);
});

test.each(measurableRoutes().map((route) => [nameOf(route), route] as const))("%s", async (_name, route) => {
  const complaints: string[] = [];
  for (const call of await callsOf(route, service, world, operator))
    complaints.push(...(await complaintsOf(call, tokenOf(route, world, operator))));
  expect([...new Set(complaints)]).toEqual([]);
});

test("one statement of all calls joins a table that may be spread over machines with one that is not", () => {
  // One receipt by its key, and its agent: Citus reads the receipt first.
  expect([...mixed]).toEqual(["agents receipts"]);
});
