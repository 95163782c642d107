/**
 * Auditor links over HTTPS: who makes them, what they open, until when, and that they show nothing
 * else.
 */
import { newId } from "@attestore/contract";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Answer, ownAddress } from "../../../test/client.ts";
import { type History, makeHistory } from "../../../test/history.ts";
import { recordBackup, recordReceipt } from "../../../test/recorded.ts";
import { endless } from "../../../test/endless-windows.ts";
import { startTestService, type TestOrg, type TestService, type TestUser } from "../../../test/service.ts";
import { apiRoutes } from "../api-routes.ts";

const HOUR_MS = 3_600_000;
const ago = (hours: number): string => new Date(Date.now() - hours * HOUR_MS).toISOString();

let service: TestService;
let org: TestOrg;
let owner: TestUser;
beforeAll(async () => {
  service = await startTestService({ rateLimits: endless("auditor_link_address") });
});
afterAll(() => service.close());
beforeEach(async () => {
  org = await service.addOrg();
  owner = await service.signIn(org);
});

const create = (by = owner, more: object = {}): Promise<Answer> =>
  by.post(`/api/orgs/${org.id}/auditor-links`, { name: "SOC 2", from: ago(48), to: ago(-1), ...more });

const open = (secret: string): Promise<Answer> =>
  service.call({
    method: "POST",
    path: "/api/auditor-links/open",
    json: { secret },
    // The limit is per address.
    from: ownAddress(),
  });

const secretOf = (created: Answer): string => new URL(created.json["url"] as string).hash.slice(1);

/** A session by a new link. */
async function reading(more: object = {}): Promise<{ token: string; linkId: string }> {
  const created = await create(owner, more);
  expect(created.status, created.body.toString()).toBe(201);
  const opened = await open(secretOf(created));
  expect(opened.status, opened.body.toString()).toBe(200);
  return { token: opened.json["session_token"] as string, linkId: created.json["id"] as string };
}

const get = (path: string, token: string): Promise<Answer> => service.call({ method: "GET", path, token });
const idsOf = ({ json }: Answer): string[] => (json["items"] as { id: string }[]).map(({ id }) => id);

async function logged(): Promise<{ kind: string; actor_id: string; detail: Record<string, unknown> }[]> {
  const { rows } = await service.pool.query<{ kind: string; actor_id: string; body: Buffer }>(
    "select kind, actor_id, body from events where org_id = $1 and kind like 'auditor_link%' order by log_index",
    [org.id],
  );
  return rows.map(({ body, ...row }) => ({
    ...row,
    ...(JSON.parse(body.toString()) as { detail: Record<string, unknown> }),
  }));
}

describe("a link", () => {
  test("is shown once, with its secret in the fragment, kept as a hash, listed and logged", async () => {
    const created = await create(owner, { expires_in_s: 3600 });
    expect(created.status, created.body.toString()).toBe(201);
    const { url, ...record } = created.json;
    expect(url).toMatch(new RegExp(`^${service.url}/shared#atl_[A-Za-z0-9_-]{43}$`));
    expect(record).toMatchObject({ name: "SOC 2", created_by: owner.id, openings: 0, revoked_at: null });
    const listed = await owner.get(`/api/orgs/${org.id}/auditor-links`);
    expect(listed.json["items"]).toEqual([record]);
    const secret = secretOf(created);
    const { rows } = await service.pool.query<{ all: string }>(
      "select (select jsonb_agg(l)::text from auditor_links l) || (select jsonb_agg(e)::text from events e) as all",
    );
    expect(rows[0]?.all).not.toContain(secret);
    expect(await logged()).toMatchObject([
      { kind: "auditor_link_created", actor_id: owner.id, detail: { auditor_link_id: record["id"] } },
    ]);
  });

  test("is made, listed and revoked by owners and admins only", async () => {
    const path = `/api/orgs/${org.id}/auditor-links`;
    const id = (await create()).json["id"] as string;
    for (const [by, status] of [
      [await service.signIn(org, "admin"), 201],
      [await service.signIn(org, "auditor"), 403],
      [await service.signIn(null), 403],
      [await service.signIn(await service.addOrg()), 404],
    ] as const) {
      expect((await create(by)).status).toBe(status);
      expect((await by.get(path)).status).toBe(status === 201 ? 200 : status);
      expect((await by.post(`${path}/${id}/revoke`)).status).toBe(status === 201 ? 200 : status);
    }
    expect((await owner.post(`${path}/${id}/revoke`)).json["error"]).toBe("conflict");
    expect((await owner.post(`${path}/${newId("auditorLink")}/revoke`)).status).toBe(404);
  });

  test.each([
    [{ from: "2026-01-02T00:00:00Z", to: "2026-01-02T00:00:00Z" }],
    [{ from: "2026-01-02T00:00:00Z", to: "2026-01-01T00:00:00Z" }],
    [{ from: "2026-02-30T00:00:00Z" }],
    [{ to: "tomorrow" }],
    [{ expires_in_s: 59 }],
    [{ expires_in_s: 90 * 86_400 + 1 }],
    [{ name: "" }],
    [{ unknown: 1 }],
  ])("%j is refused", async (more) => {
    expect((await create(owner, more)).json["error"]).toBe("invalid_request");
    expect((await owner.get(`/api/orgs/${org.id}/auditor-links`)).json["items"]).toEqual([]);
  });
});

describe("opening it", () => {
  test("gives a session as a cookie, as often as it is opened, which says what it is and is logged", async () => {
    const created = await create(owner, { expires_in_s: 3600 });
    await open(secretOf(created));
    const opened = await open(secretOf(created));
    const cookie = opened.headers["set-cookie"]?.toString() ?? "";
    expect(cookie).toMatch(/^__Host-attestore_session=atss_.*HttpOnly; SameSite=Strict/);
    const left_ms = Date.parse(opened.json["expires_at"] as string) - Date.now();
    expect(left_ms).toBeLessThanOrEqual(3_600_000);
    const me = await service.call({
      method: "GET",
      path: "/api/auth/me",
      headers: { cookie: cookie.split(";")[0] ?? "" },
    });
    expect(me.json).toMatchObject({
      user: { id: created.json["id"], role: "reader", name: "SOC 2" },
      org: { id: org.id },
      impersonated_by: null,
      auditor_link: { from: created.json["from"], to: created.json["to"] },
    });
    expect((await logged()).map(({ kind, actor_id }) => [kind, actor_id])).toEqual([
      ["auditor_link_created", owner.id],
      ["auditor_link_opened", created.json["id"]],
      ["auditor_link_opened", created.json["id"]],
    ]);
    const [listed] = (await owner.get(`/api/orgs/${org.id}/auditor-links`)).json["items"] as [object];
    expect(listed).toMatchObject({ openings: 2 });
  });

  test("has the same answer for an invalid secret, a revoked link and an expired one", async () => {
    const [revoked, expired] = [await create(), await create()];
    await owner.post(`/api/orgs/${org.id}/auditor-links/${revoked.json["id"] as string}/revoke`);
    await service.pool.query("update auditor_links set expires_at = now() where id = $1", [
      expired.json["id"],
    ]);
    const answers = [];
    for (const secret of [`atl_${"A".repeat(43)}`, "x", secretOf(revoked), secretOf(expired)])
      answers.push(await open(secret));
    expect(new Set(answers.map(({ status, json }) => `${status} ${json["error"] as string}`))).toEqual(
      new Set(["401 unauthenticated"]),
    );
    expect(new Set(answers.map(({ json }) => json["message"])).size).toBe(1);
  });

  test("is limited to thirty times an hour from one address", async () => {
    const from = ownAddress();
    const call = () =>
      service.call({ method: "POST", path: "/api/auditor-links/open", json: { secret: "x" }, from });
    const answers = await Promise.all(Array.from({ length: 32 }, call));
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(2);
  });
});

describe("its session", () => {
  test("ends at once when the link is revoked, and when its time is over", async () => {
    const { token, linkId } = await reading();
    const path = `/api/orgs/${org.id}/receipts`;
    expect((await get(path, token)).status).toBe(200);
    await owner.post(`/api/orgs/${org.id}/auditor-links/${linkId}/revoke`);
    expect((await get(path, token)).json["error"]).toBe("session_expired");
    expect((await logged()).at(-1)).toMatchObject({ kind: "auditor_link_revoked", actor_id: owner.id });

    const second = await reading();
    await service.pool.query("update auditor_links set expires_at = now() where id = $1", [second.linkId]);
    expect((await get(path, second.token)).json["error"]).toBe("session_expired");
  });

  test("ends with a sign-out", async () => {
    const { token } = await reading();
    const out = await service.call({ method: "POST", path: "/api/auth/logout", token });
    expect(out.status).toBe(200);
    expect((await get("/api/auth/me", token)).json["error"]).toBe("session_expired");
  });

  test("is in the organisation's API log, under the link's name", async () => {
    const { token, linkId } = await reading();
    await get(`/api/orgs/${org.id}/backups`, token);
    await expect
      .poll(
        async () => {
          const { rows } = await service.pool.query(
            "select actor_kind, route from api_logs where actor_id = $1",
            [linkId],
          );
          return rows as unknown[];
        },
        { timeout: 30_000 },
      )
      .toContainEqual({ actor_kind: "auditor_link", route: "/api/orgs/:orgID/backups" });
  });

  /** What keeps to the period; the tests below show that each does. */
  const FOR_READERS = [
    "GET /api/auth/me",
    "POST /api/auth/logout",
    "GET /api/orgs/:orgID",
    "GET /api/orgs/:orgID/agents",
    "GET /api/orgs/:orgID/agents/:agentID",
    "GET /api/orgs/:orgID/agents/:agentID/keys",
    "GET /api/orgs/:orgID/sources",
    "GET /api/orgs/:orgID/sources/:sourceID",
    "GET /api/orgs/:orgID/sources/:sourceID/restore-tests",
    "GET /api/orgs/:orgID/receipts",
    "GET /api/receipts/:receiptID",
    "GET /api/receipts/:receiptID/bundle",
    "GET /api/orgs/:orgID/backups",
    "GET /api/backups/:backupID",
    "GET /api/orgs/:orgID/events",
    "GET /api/events/:eventID",
    "GET /api/orgs/:orgID/evidence",
    "GET /api/orgs/:orgID/log",
    "GET /api/orgs/:orgID/log/head",
    "GET /api/orgs/:orgID/log/proof",
  ];

  test("makes no call but these: everything else is forbidden, and changes nothing", async () => {
    const { token } = await reading();
    const calls = apiRoutes().filter(({ credential }) => credential === "user" || credential === "session");
    expect(calls.length).toBeGreaterThan(40);
    for (const { method, path } of calls) {
      const filled = path
        .replace(":orgID", org.id)
        .replaceAll(/:\w+/g, (name) => (name === ":code" ? "ABCD-EFGH" : newId("receipt")));
      if (FOR_READERS.includes(`${method} ${path}`)) continue;
      const answer = await service.call({
        method,
        path: filled,
        token,
        ...(method === "GET" ? {} : { json: {} }),
      });
      expect([answer.status, answer.json["error"]], `${method} ${path}`).toEqual([403, "forbidden"]);
    }
    for (const call of FOR_READERS)
      expect(calls.map(({ method, path }) => `${method} ${path}`)).toContain(call);
  });
});

describe("its content", () => {
  let history: History;
  let old: { backup: string; receipt: string };
  beforeEach(async () => {
    history = await makeHistory(service, org, { backups: 1 });
    const at = new Date(Date.now() - 72 * HOUR_MS);
    const common = { orgId: org.id, sourceId: history.sourceId, agentId: history.agent.id, at };
    const backupId = await recordBackup(service.database, common);
    const receipt = { ...common, backupId, kind: "restore_test", result: "passed" } as const;
    old = { backup: backupId, receipt: await recordReceipt(service.database, receipt) };
  });

  test("in lists ends with its period, also if the query asks for more", async () => {
    const { token } = await reading();
    const [made] = history.backups;
    if (made === undefined) throw new Error("there is no backup");
    for (const query of ["", `?from=${ago(1000)}&to=${ago(-1000)}`]) {
      const receipts = await get(`/api/orgs/${org.id}/receipts${query}`, token);
      expect(idsOf(receipts).toSorted()).toEqual(Object.values(made.receipts).toSorted());
      expect(idsOf(await get(`/api/orgs/${org.id}/backups${query}`, token))).toEqual([made.id]);
      const tests = await get(`/api/orgs/${org.id}/sources/${history.sourceId}/restore-tests${query}`, token);
      expect(tests.json["items"]).toMatchObject([{ receipt_id: made.receipts.restore_test }]);
    }
    const past = (await reading({ from: ago(100), to: ago(50) })).token;
    expect(idsOf(await get(`/api/orgs/${org.id}/receipts`, past))).toEqual([old.receipt]);
    expect(idsOf(await get(`/api/orgs/${org.id}/backups`, past))).toEqual([old.backup]);
    expect(idsOf(await get(`/api/orgs/${org.id}/events`, past))).toEqual([]);
    expect(idsOf(await get(`/api/orgs/${org.id}/receipts?from=${ago(49)}`, past))).toEqual([]);
    // Neither was there yet.
    expect(idsOf(await get(`/api/orgs/${org.id}/agents`, past))).toEqual([]);
    expect(idsOf(await get(`/api/orgs/${org.id}/sources`, past))).toEqual([]);
  });

  test("ends with its period, also if the query names a time long ago", async () => {
    const past = (await reading({ from: ago(100), to: ago(50) })).token;
    const [made] = history.backups;
    for (const list of ["receipts", "backups", "events"]) {
      const until1960 = await get(`/api/orgs/${org.id}/${list}?to=1960-01-01T00:00:00Z`, past);
      expect([until1960.status, until1960.json["items"] ?? until1960.json["error"]], list).toEqual([200, []]);
    }
    const from1960 = `/api/orgs/${org.id}/receipts?from=1960-01-01T00:00:00Z`;
    expect(idsOf(await get(from1960, past))).toEqual([old.receipt]);
    expect(idsOf(await owner.get(from1960))).toEqual(
      expect.arrayContaining([old.receipt, ...Object.values(made?.receipts ?? {})]),
    );
  });

  test("does not include the log's entries, which are of all times", async () => {
    const past = (await reading({ from: ago(100), to: ago(50) })).token;
    for (const path of ["tile/entries/000.p/1", "tile/0/000.p/1"]) {
      expect((await owner.get(`/log/${org.id}/${path}`)).status).toBe(200);
      const refused = await get(`/log/${org.id}/${path}`, past);
      expect([refused.status, refused.json["error"]], path).toEqual([403, "forbidden"]);
    }
    expect((await get(`/log/${org.id}/checkpoint`, past)).status).toBe(200);
  });

  test("in details and bundles ends with its period", async () => {
    const now = (await reading()).token;
    const past = (await reading({ from: ago(100), to: ago(50) })).token;
    const [made] = history.backups;
    const { items } = (await get(`/api/orgs/${org.id}/events`, now)).json as { items: { id: string }[] };
    const inside = [
      `/api/receipts/${made?.receipts.backup ?? ""}`,
      `/api/receipts/${made?.receipts.restore_test ?? ""}/bundle`,
      `/api/receipts/${made?.receipts.restore_test ?? ""}/bundle?format=sigstore`,
      `/api/backups/${made?.id ?? ""}`,
      `/api/events/${items[0]?.id ?? ""}`,
      `/api/orgs/${org.id}/agents/${history.agent.id}`,
      `/api/orgs/${org.id}/sources/${history.sourceId}`,
      `/api/orgs/${org.id}/sources/${history.sourceId}/restore-tests`,
    ];
    for (const path of inside) {
      expect((await get(path, now)).status, path).toBe(200);
      const answer = await get(path, past);
      expect([answer.status, answer.json["error"]], path).toEqual([404, "not_found"]);
    }
    for (const path of [
      `/api/receipts/${old.receipt}`,
      `/api/receipts/${old.receipt}/bundle`,
      `/api/backups/${old.backup}`,
    ])
      expect((await get(path, now)).status, path).toBe(404);
    expect((await get(`/api/receipts/${old.receipt}`, past)).status).toBe(200);
  });

  test("has a source's clocks as they were in the period", async () => {
    await service.pool.query("update sources set created_at = now() - interval '90 days' where id = $1", [
      history.sourceId,
    ]);
    const past = (await reading({ from: ago(100), to: ago(50) })).token;
    const before = (await reading({ from: ago(1000), to: ago(500) })).token;
    const path = `/api/orgs/${org.id}/sources/${history.sourceId}`;
    const seen = (await get(path, past)).json;
    for (const name of ["last_backup_at", "last_proven_at"]) {
      const age_h = (Date.now() - Date.parse(seen[name] as string)) / HOUR_MS;
      expect(age_h).toBeCloseTo(72, 1);
    }
    // A receipt that came late tells of when its test ran.
    await service.pool.query(
      "update receipts set happened_at = created_at - interval '1 hour' where source_id = $1",
      [history.sourceId],
    );
    const proven = (await get(path, past)).json["last_proven_at"] as string;
    expect((Date.now() - Date.parse(proven)) / HOUR_MS).toBeCloseTo(73, 1);
    expect((await get(path, before)).json).toMatchObject({
      last_backup_at: null,
      last_proven_at: null,
      next_backup_at: null,
    });
    expect((await get(`/api/orgs/${org.id}/sources`, before)).json["items"]).toMatchObject([
      { last_backup_at: null },
    ]);
  });

  test("has a source as proven as it was at the period's end, whatever failed later", async () => {
    await service.pool.query("update sources set created_at = now() - interval '90 days' where id = $1", [
      history.sourceId,
    ]);
    const { sourceId, agent } = history;
    const add = async (hours: number, result: "passed" | "failed"): Promise<void> => {
      const common = {
        orgId: org.id,
        sourceId,
        agentId: agent.id,
        at: new Date(Date.now() - hours * HOUR_MS),
      };
      const backupId = await recordBackup(service.database, common);
      await recordReceipt(service.database, { ...common, backupId, kind: "restore_test", result });
    };
    const stateUntil = async (hours: number): Promise<unknown> => {
      const { token } = await reading({ from: ago(100), to: ago(hours) });
      const { json } = await get(`/api/orgs/${org.id}/sources/${sourceId}`, token);
      return json["not_proven_because"];
    };
    await add(70, "failed");
    await add(60, "passed");
    await add(40, "failed");
    await add(30, "passed");
    expect([await stateUntil(65), await stateUntil(50), await stateUntil(35), await stateUntil(20)]).toEqual([
      "restore_test_failed",
      null,
      "restore_test_failed",
      null,
    ]);
  });

  test("in evidence ends with its period, also if the query asks for more", async () => {
    const link = { from: "2026-01-10T00:00:00Z", to: "2026-02-01T00:00:00Z" };
    const { token } = await reading(link);
    const path = `/api/orgs/${org.id}/evidence`;
    for (const query of ["", "?from=2025-12-01T00:00:00Z&to=2026-06-01T00:00:00Z"]) {
      const pack = await get(path + query, token);
      expect(pack.status, pack.body.toString()).toBe(200);
      expect(pack.headers["content-disposition"]).toContain("-2026-01-10-2026-02-01.zip");
    }
    expect((await get(`${path}?from=2026-03-01T00:00:00Z`, token)).json["error"]).toBe("invalid_request");
  });

  test("is of its organisation alone", async () => {
    const another = await service.addOrg();
    const theirs = await makeHistory(service, another);
    const { token } = await reading();
    for (const path of [
      `/api/orgs/${another.id}`,
      `/api/orgs/${another.id}/receipts`,
      `/api/receipts/${theirs.backups[0]?.receipts.backup ?? ""}`,
      `/api/receipts/${theirs.backups[0]?.receipts.backup ?? ""}/bundle`,
      `/api/backups/${theirs.backups[0]?.id ?? ""}`,
      `/api/orgs/${another.id}/agents/${theirs.agent.id}`,
      `/api/orgs/${another.id}/log/head`,
    ]) {
      const answer = await get(path, token);
      expect([answer.status, answer.json["error"]], path).toEqual([404, "not_found"]);
    }
  });
});
