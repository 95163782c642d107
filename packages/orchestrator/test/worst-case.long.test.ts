/**
 * What one organisation can make the service's one thread do at a stretch. An organisation is
 * filled with the greatest that is taken of everything; then each route of the service is called
 * about it, and each that takes a body is sent the largest. Blocking is counted in processor time
 * of the thread between two turns of its event loop: a busy machine makes that no longer.
 */
import {
  MAX_BODY_BYTES,
  MAX_EVENT_DETAIL_BYTES,
  MAX_SOURCE_METADATA_BYTES,
  newId,
} from "@attestore/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { apiRoutes } from "../src/features/api-routes.ts";
import type { Route } from "../src/platform/http/route/route.ts";
import { ownAddress, type Call } from "./client.ts";
import { startTestService, type TestService } from "./service.ts";
import { nameOf } from "./tenancy/fill.ts";
import { requestAbout } from "./tenancy/requests.ts";
import { idOf, makeWorld, type World } from "./tenancy/world.ts";
import { fillWithTheGreatest } from "./worst-case/greatest.ts";
import { longestTurn_ms } from "./worst-case/turns.ts";

const MOST_MS = 250;
const UNLIMITED = {
  limit: 1_000_000,
  window_s: 60,
  per: "credential",
  counts: "calls",
  kept: "reserved",
} as const;

let service: TestService;
let world: World;
beforeAll(async () => {
  service = await startTestService({ rateLimits: { default: UNLIMITED, evidence: UNLIMITED } });
  world = await makeWorld(service);
  await fillWithTheGreatest(service, world);
});
afterAll(() => service.close());

const routes = apiRoutes();
const reading = routes
  .filter(({ method }) => method === "GET")
  .map((route) => [nameOf(route), route] as const);
const writing = routes
  .filter(({ body }) => body !== undefined)
  .map((route) => [nameOf(route), route] as const);

function tokenFor({ credential }: Route): string | undefined {
  if (credential === "user" || credential === "session") return world.tokens.owner;
  if (credential === "agent") return world.agent.token;
  return credential === "auth_key" ? world.org.authKey : undefined;
}

function request(route: Route): Call {
  const { call } = requestAbout(route, { about: world, by: world, pick: (slot) => idOf(world, slot) });
  const takesLimit = "limit" in ((route.query as { properties?: object } | undefined)?.properties ?? {});
  // Lists of everything, not of one agent and one source.
  const path = takesLimit ? `${call.path.split("?")[0]}?limit=200` : call.path;
  const token = tokenFor(route);
  return { ...call, path, ...(token === undefined ? { from: ownAddress() } : { token }) };
}

describe("reading the largest records", () => {
  test.each(reading)("%s", async (_name, route) => {
    const { answer, longest_ms } = await longestTurn_ms(() => service.call(request(route)));
    expect(answer.status, answer.body.toString().slice(0, 300)).not.toBe(500);
    expect(longest_ms).toBeLessThan(MOST_MS);
  });
});

/**
 * Bodies that cost their readers most: in each field that there is one long text, or very many
 * values.
 */
function hostileBodies(route: Route): string[] {
  const room = route.bodyLimit ?? MAX_BODY_BYTES;
  const fields = Object.keys((route.body as { properties?: object }).properties ?? {});
  const share = Math.floor(room / Math.max(1, fields.length)) - 64;
  return [
    `{${fields.map((name) => `${JSON.stringify(name)}:"${"a ".repeat(share / 2)}"`).join(",")}}`,
    `{${fields.map((name) => `${JSON.stringify(name)}:[${"{},".repeat(share / 3)}{}]`).join(",")}}`,
  ];
}

/** Bodies that are refused before their fields are known. */
const HOSTILE_JSON = [
  `{${Array.from({ length: 70_000 }, (_, n) => `"n${n}":0`).join(",")}}`,
  `{"a":${"[".repeat(500_000)}${"]".repeat(500_000)}}`,
];

describe("taking the largest bodies", () => {
  test.each(writing)("%s", async (_name, route) => {
    const isFirst = route === writing[0]?.[1] || route.path === "/v1/heartbeat";
    for (const body of [...hostileBodies(route), ...(isFirst ? HOSTILE_JSON : [])]) {
      const { json: _, ...call } = request(route);
      const headers = { "content-type": "application/json" };
      const { answer, longest_ms } = await longestTurn_ms(() => service.call({ ...call, body, headers }));
      expect(answer.status, body.slice(0, 50)).toBeGreaterThanOrEqual(400);
      expect(answer.status, body.slice(0, 50)).toBeLessThan(500);
      expect(longest_ms, body.slice(0, 50)).toBeLessThan(MOST_MS);
    }
  });
});

/** A summary of as many names as there is room for, none of which the other has. */
function summaryOf(prefix: string, bytes: number, nameLength: number): object {
  const objects: object[] = [];
  for (let left = bytes; left > nameLength + 40; left -= nameLength + 40)
    objects.push({ kind: "t", name: `${prefix}${objects.length}`.padEnd(nameLength, "n"), definition: "d" });
  return { objects, omitted: 0 };
}

describe("an agent's report about a backup", () => {
  const register = async (metadata: object, hash: string) => {
    const bytes = Buffer.from(newId("upload"));
    const upload = await service.upload(world.agent, world.backup.sourceId, bytes);
    const body = service.registration(upload, world.backup.sourceId);
    const fields = body["source_metadata"] as object;
    return longestTurn_ms(() =>
      world.agent.post("/v1/backups", {
        ...body,
        source_metadata: { ...fields, schema_hash: hash.repeat(32), ...metadata },
      }),
    );
  };

  test.each([
    ["many short names", 8],
    ["few long ones", 20_000],
  ])("is compared once, at registration: %s", async (_what, nameLength) => {
    const room = MAX_SOURCE_METADATA_BYTES - 8192;
    for (const [prefix, hash] of [
      ["a", "a1"],
      ["b", "b2"],
    ] as const) {
      const schema_summary = summaryOf(prefix, room, nameLength);
      const { answer, longest_ms } = await register({ schema_summary }, hash);
      expect(answer.status, answer.body.toString().slice(0, 300)).toBe(201);
      expect(longest_ms).toBeLessThan(MOST_MS);
    }
  });

  test("is not larger than what the service stores", async () => {
    for (const metadata of [
      { note: "n".repeat(MAX_SOURCE_METADATA_BYTES) },
      { many: Array.from({ length: 30_000 }, () => 0) },
      { parts: Object.fromEntries(Array.from({ length: 20_001 }, (_, n) => [n.toString(36), 0])) },
    ]) {
      const { answer } = await register(metadata, "cc");
      expect([answer.status, answer.json["error"]]).toEqual([400, "invalid_request"]);
      expect(answer.json["message"]).toContain("source_metadata");
    }
  });

  test("the same for an event", async () => {
    const event = (detail: object) => ({
      kind: "backup_failed",
      occurred_at: "2026-11-21T08:00:00.000Z",
      detail,
    });
    const room = MAX_EVENT_DETAIL_BYTES - 64;
    expect((await world.agent.post("/v1/events", event({ message: "m".repeat(room) }))).status).toBe(201);
    const answer = await world.agent.post("/v1/events", event({ message: "m".repeat(room + 100) }));
    expect([answer.status, answer.json["error"]]).toEqual([400, "invalid_request"]);
  });
});

describe("a page of a list ends before it is too large, and the next one continues without a gap", () => {
  const ofOrg = (path: string) => () => `/api/orgs/${world.org.id}/${path}`;
  const ofSource = (path: string) => () => ofOrg(`sources/${world.ids.source}/${path}`)();
  test.each([
    ["events", ofOrg("events")],
    ["agents", ofOrg("agents")],
    ["backups", ofOrg("backups")],
    ["the timeline", ofSource("timeline?topic=trouble&")],
    ["restore tests", ofSource("restore-tests")],
    ["drift", ofSource("drift")],
  ])("%s", async (_name, list) => {
    const walk = async (limit: number, enough: number): Promise<string[]> => {
      const seen: string[] = [];
      for (let cursor: string | null = ""; cursor !== null && seen.length < enough;) {
        const answer = await world.users.owner.get(
          `${list().replace(/[?&]*$/, list().includes("?") ? "&" : "?")}limit=${limit}${cursor && `&cursor=${cursor}`}`,
        );
        expect(answer.status, answer.body.toString().slice(0, 300)).toBe(200);
        expect(answer.body.length).toBeLessThan(2 * MAX_BODY_BYTES);
        expect(answer.body.includes("schema_summary")).toBe(false);
        const items = answer.json["items"] as object[];
        expect(items.length).toBeLessThan(201);
        seen.push(...items.map((item) => JSON.stringify(item)));
        cursor = answer.json["next_cursor"] as string | null;
      }
      return seen;
    };
    const [first] = [await walk(200, 1)];
    // By the bytes, not by the limit.
    expect(first.length).toBeLessThan(200);
    const more = await walk(200, first.length + 1);
    expect(new Set(more).size).toBe(more.length);
    const inSmallPages = await walk(Math.ceil(first.length / 2) + 1, more.length);
    expect(inSmallPages.slice(0, more.length)).toEqual(more.slice(0, inSmallPages.length));
  });
});
