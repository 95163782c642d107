/**
 * Every route of the service, each of them by everybody who may not: with another organisation's
 * ids and with every role. They are refused as the contract says, nothing of theirs shows, and
 * nothing changes. The routes come from the service itself, so a new one is walked without a word
 * here. Each is also called by everybody who may: a refusal means something only where the same
 * request would have been taken.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { apiRoutes } from "../src/features/api-routes.ts";
import type { Route } from "../src/platform/http/route/route.ts";
import { type Answer, type Call, ownAddress } from "./client.ts";
import { type TestService, type TestUser, heartbeat, startTestService } from "./service.ts";
import { type Filled, type Slot, nameOf } from "./tenancy/fill.ts";
import { requestAbout } from "./tenancy/requests.ts";
import { hashRows, rowsThatMix } from "./tenancy/rows.ts";
import {
  ROLES,
  type Role,
  type World,
  asSeenByOthers,
  idOf,
  makeWorld,
  startAttach,
} from "./tenancy/world.ts";
import { POLICY } from "../src/platform/http/route/policy.ts";

const UNLIMITED = {
  limit: 1_000_000,
  window_s: 60,
  per: "credential",
  counts: "calls",
  kept: "reserved",
} as const;

let service: TestService;
/** Whose records nobody else may see or change. */
let theirs: World;
/** Who tries. */
let mine: World;
let operator: TestUser;
/** The rows of theirs. */
let untouched: Map<string, string>;
beforeAll(async () => {
  service = await startTestService({ rateLimits: { default: UNLIMITED } });
  mine = await makeWorld(service);
  const decided = await startAttach(service);
  theirs = asSeenByOthers(await makeWorld(service), decided.code);
  await theirs.users.owner.post(`/api/orgs/${theirs.org.id}/bootstraps/${decided.code}/approve`);
  operator = await service.signIn(null);
  untouched = await hashRows(service.pool, theirs.secrets);
});
afterAll(() => service.close());

const routes = apiRoutes();
const named = (some: readonly Route[]): [string, Route][] => some.map((route) => [nameOf(route), route]);
const ofUsers = named(routes.filter(({ credential }) => credential === "user" || credential === "session"));
const ofAgents = named(routes.filter(({ credential }) => credential === "agent"));
const ofKeys = named(routes.filter(({ credential }) => credential === "auth_key"));
const ofAnybody = named(routes.filter(({ credential }) => credential === "anonymous"));

const mayBe = (route: Route, actor: string): boolean =>
  (POLICY[route.action] as readonly string[]).includes(actor) &&
  (actor !== "auditor_link" || route.credential === "session");

function request(route: Route, about: World, by: World = about): Filled {
  return requestAbout(route, { about, by, pick: (slot) => idOf(about, slot) });
}

/** The same request about `by`'s own things, but for one place, where theirs is named. */
function mixed(route: Route, by: World, about: World, foreign: number): Filled {
  const pick = (slot: Slot, n: number): string => idOf(n === foreign ? about : by, slot);
  return requestAbout(route, { about: by, by, pick });
}

const send = (call: Call, token?: string): Promise<Answer> =>
  service.call({ ...call, ...(token === undefined ? { from: ownAddress() } : { token }) });

const told = ({ status, json }: Answer): string => `${status} ${String(json["error"])}`;

/** Nothing of theirs is in an answer that the request did not name itself. */
function expectNothingOf(world: World, { call }: Filled, { body }: Answer): void {
  const asked = `${call.path} ${JSON.stringify(call.json ?? "")} ${String(call.body ?? "")}`;
  const text = body.toString();
  const shown = world.secrets.filter((secret) => text.includes(secret) && !asked.includes(secret));
  expect(shown, text).toEqual([]);
}

/** Runs calls that may change nothing at all: afterwards not a row is another one. */
async function changingNothing(run: () => Promise<void>): Promise<void> {
  const before = await hashRows(service.pool);
  await run();
  expect(await hashRows(service.pool)).toEqual(before);
}

/** Runs calls that may change something of others: theirs is as it was when the walk began. */
async function changingNothingOfTheirs(run: () => Promise<void>): Promise<void> {
  await run();
  expect(await hashRows(service.pool, theirs.secrets)).toEqual(untouched);
}

/**
 * Calls that this walk cannot make succeed, and how they are refused: what they need is not an id.
 */
const OTHERWISE: Readonly<Record<string, string>> = {
  "POST /api/auth/end-impersonate": "409 conflict",
  "POST /api/auth/invitations/:userID/accept": "404 not_found",
  "POST /api/auth/invitations/:userID/decline": "404 not_found",
  "POST /api/auth/passkeys": "401 passkey_invalid",
  "PATCH /api/auth/passkeys/:passkeyID": "404 not_found",
  "DELETE /api/auth/passkeys/:passkeyID": "404 not_found",
  "POST /api/auth/recovery-codes": "409 conflict",
  "POST /api/orgs/:orgID/leave": "409 conflict",
  "POST /api/orgs/:orgID/notifications/deliveries/:deliveryID/retry": "409 conflict",
  "POST /api/orgs/:orgID/sources/:sourceID/retention-resume": "409 conflict",
};

/** In the world of its own, since it may change it. */
async function expectTaken(route: Route, world: World, token: string, byOperator = false): Promise<void> {
  const filled = request(route, world);
  const answer = await send(filled.call, token);
  const otherwise = OTHERWISE[nameOf(route)];
  if (otherwise !== undefined) expect(told(answer)).toBe(otherwise);
  else expect(Object.keys(route.answers).map(Number), answer.body.toString()).toContain(answer.status);
  // Operators see which organisations there are.
  if (!byOperator) expectNothingOf(theirs, filled, answer);
}

test("the hashes of rows show a row that is added, changed or removed", async () => {
  const email = `${theirs.org.id}@example.org`;
  const seen = async (): Promise<string[]> =>
    [await hashRows(service.pool), await hashRows(service.pool, theirs.secrets)].map(
      (tables) => tables.get("passkey_owners") ?? "",
    );
  const before = await seen();
  await service.pool.query("insert into passkey_owners (email, handle) values ($1, $2)", [email, "one"]);
  const added = await seen();
  await service.pool.query("update passkey_owners set handle = $2 where email = $1", [email, "two"]);
  const changed = await seen();
  await service.pool.query("delete from passkey_owners where email = $1", [email]);
  const removed = await seen();
  for (const n of [0, 1]) expect(new Set([before[n], added[n], changed[n]]).size).toBe(3);
  expect(removed).toEqual(before);
});

const isReading = (route: Route): boolean => route.method === "GET";

describe.each(ofUsers)("%s", (_name, route) => {
  test("without a session, or with another credential: unauthenticated", async () => {
    await changingNothing(async () => {
      const { call } = request(route, theirs);
      for (const token of [undefined, theirs.agent.token, theirs.org.authKey, `atss_${"A".repeat(43)}`])
        expect(told(await send(call, token))).toBe("401 unauthenticated");
      expect(told(await send(call, theirs.endedSession))).toBe("401 session_expired");
    });
  });

  const refused = [...ROLES, "operator"].filter((role) => !mayBe(route, role));
  if (refused.length > 0)
    test(`as ${refused.join(" or ")} of the organisation: forbidden`, async () => {
      await changingNothing(async () => {
        for (const role of refused) {
          const token = role === "operator" ? operator.token : theirs.tokens[role as Role];
          const filled = request(route, theirs);
          const answer = await send(filled.call, token);
          expect(told(answer), role).toBe("403 forbidden");
          expectNothingOf(theirs, filled, answer);
        }
      });
    });

  test("by somebody of another organisation: as if it did not exist", async () => {
    if (request(route, theirs).slots.length === 0) return;
    await changingNothing(async () => {
      for (const role of ROLES) {
        const filled = request(route, theirs, mine);
        const answer = await send(filled.call, mine.tokens[role]);
        expect(told(answer), role).toBe(expectedOfForeign(route, role));
        expectNothingOf(theirs, filled, answer);
      }
    });
  });

  test("in one's own organisation, with each id of another organisation's in turn", async () => {
    await changingNothingOfTheirs(async () => {
      const { slots } = request(route, mine);
      for (const [n, slot] of slots.entries()) {
        if (slot === "org") continue; // the test above
        for (const role of ROLES) {
          const filled = mixed(route, mine, theirs, n);
          const answer = await send(filled.call, mine.tokens[role]);
          // A filter that names what is not there lists nothing.
          const wanted = !mayBe(route, role) ? "403 forbidden" : "404 not_found";
          if (answer.status !== 200 || !isReading(route))
            expect(told(answer), `${slot} as ${role}`).toBe(wanted);
          expectNothingOf(theirs, filled, answer);
        }
      }
    });
    expect(await rowsThatMix(service.pool, mine.secrets, theirs.secrets)).toEqual([]);
  });

  test("by an operator who acts as somebody of another organisation: the same, and that organisation's log has it", async () => {
    if (request(route, theirs).slots.length === 0) return;
    await changingNothingOfTheirs(async () => {
      const acting = await operator.post("/api/auth/impersonate", {
        user_id: mine.users.owner.id,
        reason: "a walk",
      });
      const before = await impersonatedCalls(mine);
      const filled = request(route, theirs, mine);
      const answer = await send(filled.call, acting.json["session_token"] as string);
      const expected =
        namesOrg(route) || isReading(route) ? expectedOfForeign(route, "owner") : "403 forbidden";
      expect(told(answer)).toBe(expected);
      expectNothingOf(theirs, filled, answer);
      expect(await impersonatedCalls(mine)).toBe(before + 1);
    });
  });

  if (!isReading(route) && !ENDS_IMPERSONATION.has(nameOf(route)))
    test("by an operator who acts as its owner: forbidden, and nothing changes except that the log has it", async () => {
      const acting = await operator.post("/api/auth/impersonate", {
        user_id: mine.users.owner.id,
        reason: "a walk",
      });
      const token = acting.json["session_token"] as string;
      const before = await rowsOutsideLogs();
      const calls = await impersonatedCalls(mine);
      const answer = await send(request(route, mine).call, token);
      expect(told(answer)).toBe("403 forbidden");
      expect(String(answer.json["message"])).toContain("only read");
      expect(await rowsOutsideLogs()).toEqual(before);
      expect(await impersonatedCalls(mine)).toBe(calls + 1);
    });

  const taken = [...ROLES, "operator"].filter((role) => mayBe(route, role));
  test(`as ${taken.join(", ")}: accepted`, async () => {
    const world = isReading(route) ? mine : await makeWorld(service);
    const { token: ofOperator } = await service.signIn(null);
    const [first, ...others] = taken.map((role) => ({
      isOperator: role === "operator",
      token: role === "operator" ? ofOperator : world.tokens[role as Role],
    }));
    if (first === undefined) throw new Error("nobody may do this");
    await (isReading(route) ? changingNothing : changingNothingOfTheirs)(async () => {
      await expectTaken(route, world, first.token, first.isOperator);
      for (const { token, isOperator } of others)
        if (isReading(route)) await expectTaken(route, world, token, isOperator);
        // The first call may have left the second nothing to do.
        else {
          const answer = told(await send(request(route, world).call, token));
          if (answer !== OTHERWISE[nameOf(route)]) expect(answer).not.toMatch(/^40[13]/);
        }
    });
  });
});

/**
 * Whoever names another organisation learns nothing of it; a role that may not do this anywhere may
 * hear that first.
 */
function expectedOfForeign(route: Route, role: Role): string {
  return namesOrg(route) || mayBe(route, role) ? "404 not_found" : "403 forbidden";
}

function namesOrg({ path }: Route): boolean {
  return path.includes("/:orgID");
}

/** What an operator who acts as somebody else may do besides reading. */
const ENDS_IMPERSONATION = new Set(["POST /api/auth/logout", "POST /api/auth/end-impersonate"]);

/** All that a call could change, but for the logs, which tell of every impersonated call. */
async function rowsOutsideLogs(): Promise<Map<string, string>> {
  const rows = await hashRows(service.pool);
  for (const name of ["events", "logs", "log_leaves", "log_heads", "log_tiles"]) rows.delete(name);
  return rows;
}

async function impersonatedCalls(world: World): Promise<number> {
  const { rows } = await service.pool.query<{ count: number }>(
    "select count(*) from events where org_id = $1 and kind = 'impersonation_call'",
    [world.org.id],
  );
  return rows[0]?.count ?? NaN;
}

/** How agents are told that something is not theirs (contract, sections 2 and 9). */
const NOT_THEIRS = /^(404 not_found|403 forbidden|422 statement_mismatch|422 backup_unknown)$/;
/** Where another answer says of any id, whoever has it, that it is not one for this. */
const NOT_FOR_THIS: Readonly<Record<string, string>> = { "POST /v1/backups command": "400 invalid_request" };
/** Ids that an agent may name whatever they are: what is not its own is passed over. */
const PASSED_OVER = new Set([
  "POST /v1/heartbeat command",
  // The cursor is a place in the order of ids.
  "GET /v1/sources/:id/backups backup",
]);

describe.each(ofAgents)("%s", (name, route) => {
  test("without an agent's token, or with a revoked one: unauthenticated", async () => {
    await changingNothing(async () => {
      const { call } = request(route, theirs);
      for (const token of [undefined, theirs.users.owner.token, theirs.org.authKey, `ats_${"A".repeat(43)}`])
        expect(told(await send(call, token))).toBe("401 unauthenticated");
      expect(told(await send(call, theirs.revokedAgent.token))).toBe("401 agent_revoked");
    });
  });

  test("by an agent of another organisation, with this one's ids, all at once and each in turn", async () => {
    await changingNothingOfTheirs(async () => {
      const { slots } = request(route, mine);
      const all = request(route, theirs, mine);
      const named = slots.map((slot, n) => [slot, mixed(route, mine, theirs, n)] as const);
      for (const [slot, filled] of [["all", all] as const, ...named]) {
        const answer = await send(filled.call, mine.agent.token);
        const isNamed = slot === "all" ? slots.length > 0 || filled.call.body !== undefined : true;
        const otherwise = NOT_FOR_THIS[`${name} ${slot}`];
        if (otherwise !== undefined) expect(told(answer), slot).toBe(otherwise);
        else if (
          isNamed &&
          !(slot === "all" ? slots : [slot]).every((one) => PASSED_OVER.has(`${name} ${one}`))
        )
          expect(told(answer), slot).toMatch(NOT_THEIRS);
        expectNothingOf(theirs, filled, answer);
      }
    });
    expect(await rowsThatMix(service.pool, mine.secrets, theirs.secrets)).toEqual([]);
  });

  test("by the organisation's own agent: accepted", async () => {
    const world = isReading(route) ? mine : await makeWorld(service);
    // Only a command that it has been given makes progress.
    if (name.endsWith("/progress")) await world.agent.post("/v1/heartbeat", heartbeat());
    await (isReading(route) ? changingNothing : changingNothingOfTheirs)(() =>
      expectTaken(route, world, world.agent.token),
    );
  });
});

describe.each(ofKeys)("%s", (_name, route) => {
  test("without an auth key, or with another credential: unauthenticated", async () => {
    await changingNothing(async () => {
      const { call } = request(route, theirs);
      for (const token of [undefined, theirs.users.owner.token, theirs.agent.token])
        expect(told(await send(call, token))).toBe("401 unauthenticated");
    });
  });

  test("with an organisation's auth key: accepted, and the agent belongs to that organisation", async () => {
    await changingNothingOfTheirs(() => expectTaken(route, mine, mine.org.authKey));
  });
});

test.each(ofAnybody)("%s shows nobody's data and changes none", async (_name, route) => {
  await changingNothingOfTheirs(async () => {
    const filled = request(route, mine);
    const answer = await send(filled.call);
    expect(answer.status, answer.body.toString()).toBeLessThan(500);
    expectNothingOf(theirs, filled, answer);
  });
});
