import { POLL_TOKEN, normalizeCode } from "@attestore/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ownAddress, type Answer } from "../../../test/client.ts";
import { endless } from "../../../test/endless-windows.ts";
import {
  attachBody,
  heartbeat,
  startTestService,
  type TestOrg,
  type TestService,
} from "../../../test/service.ts";
import { approveBootstrap, denyBootstrap } from "./review.ts";

let service: TestService;
let org: TestOrg;
beforeAll(async () => {
  service = await startTestService({ rateLimits: endless("bootstrap_start") });
  org = await service.addOrg();
});
afterAll(() => service.close());

interface Started {
  code: string;
  poll_token: string;
}

async function start(): Promise<Started> {
  const answer = await service.call({
    method: "POST",
    path: "/api/bootstrap/start",
    json: attachBody(),
    from: ownAddress(),
  });
  expect(answer.status, answer.body.toString()).toBe(201);
  return answer.json as unknown as Started;
}

const poll = ({ poll_token }: Pick<Started, "poll_token">): Promise<Answer> =>
  service.call({ method: "GET", path: `/api/bootstrap/${poll_token}` });

const approve = (code: string) =>
  service.database
    .transaction()
    .execute((tx) => approveBootstrap(tx, service.sealer, { code, orgId: org.id, decidedBy: "console" }));

const deny = (code: string) =>
  service.database
    .transaction()
    .execute((tx) => denyBootstrap(tx, { code, orgId: org.id, decidedBy: "console" }));

const expire = ({ code }: Started) =>
  service.pool.query("update bootstraps set expires_at = now() where code_sha256 = sha256($1)", [
    Buffer.from(code),
  ]);

describe("an interactive attach", () => {
  test("gives a code, a poll token and an address to open, and keeps only their hashes", async () => {
    const started = await start();
    expect(normalizeCode(started.code)).toBe(started.code);
    expect(started.poll_token).toMatch(POLL_TOKEN);
    const { rows } = await service.pool.query("select row_to_json(bootstraps)::text as row from bootstraps");
    for (const { row } of rows as { row: string }[]) {
      expect(row).not.toContain(started.poll_token);
      expect(row).not.toContain(started.code);
    }
  });

  test("ends a waiting poll with the token when it is approved, again and again until the agent calls", async () => {
    const started = await start();
    const waiting = poll(started);
    await approve(started.code.toLowerCase().replace("-", ""));
    const first = await waiting;
    expect(first.status).toBe(200);
    expect((await poll(started)).body.equals(first.body)).toBe(true);
    const token = first.json["api_token"] as string;
    const beat = await service.call({ method: "POST", path: "/v1/heartbeat", token, json: heartbeat() });
    expect(beat.status).toBe(200);
    const late = await poll(started);
    expect([late.status, late.json["error"]]).toEqual([410, "attach_expired"]);
    expect(late.body.toString()).not.toContain(token);
    const { rows } = await service.pool.query("select sealed_token from bootstraps where agent_id = $1", [
      first.json["agent_id"],
    ]);
    expect(rows).toEqual([{ sealed_token: null }]);
  });

  test("any first call of the agent ends it, a submission too", async () => {
    const started = await start();
    await approve(started.code);
    const token = (await poll(started)).json["api_token"] as string;
    const event = { kind: "backup_failed", occurred_at: "2026-11-21T08:00:00.000Z", detail: {} };
    const posted = await service.call({ method: "POST", path: "/v1/events", token, json: event });
    expect(posted.status, posted.body.toString()).toBe(201);
    expect((await poll(started)).status).toBe(410);
  });

  test("keeps the token sealed between approval and the first call", async () => {
    const started = await start();
    await approve(started.code);
    const token = (await poll(started)).json["api_token"] as string;
    const { rows } = await service.pool.query(
      "select sealed_token from bootstraps where sealed_token is not null",
    );
    for (const { sealed_token } of rows as { sealed_token: Buffer }[])
      expect(sealed_token.includes(token)).toBe(false);
  });

  test("ends a waiting poll with attach_denied", async () => {
    const started = await start();
    const waiting = poll(started);
    await deny(started.code);
    const answer = await waiting;
    expect([answer.status, answer.json["error"]]).toEqual([403, "attach_denied"]);
  });

  test("expires: the poll is told, and nobody can approve it any longer", async () => {
    const started = await start();
    const waiting = poll(started);
    await expire(started);
    const answer = await waiting;
    expect([answer.status, answer.json["error"]]).toEqual([410, "attach_expired"]);
    await expect(approve(started.code)).rejects.toMatchObject({ code: "attach_expired" });
  });

  test("is decided once, of any number at the same time", async () => {
    const started = await start();
    const decisions = await Promise.allSettled([
      approve(started.code),
      approve(started.code),
      deny(started.code),
      approve(started.code),
      deny(started.code),
    ]);
    expect(decisions.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const decision of decisions)
      if (decision.status === "rejected") expect(decision.reason).toMatchObject({ code: "conflict" });
  });

  test("is not found by tokens and codes that nobody was given", async () => {
    for (const poll_token of [`atp_${"A".repeat(43)}`, "x", "attach"])
      expect((await poll({ poll_token })).json["error"]).toBe("not_found");
    await expect(approve("ABCD-EFGH")).rejects.toMatchObject({ code: "not_found" });
    await expect(approve("no code")).rejects.toMatchObject({ code: "not_found" });
  });

  test("may be started 30 times an hour from one address", async () => {
    const from = ownAddress();
    const begin = (): Promise<Answer> =>
      service.call({ method: "POST", path: "/api/bootstrap/start", json: attachBody(), from });
    const answers = await Promise.all(Array.from({ length: 33 }, begin));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(30);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.map(({ json }) => json["error"])).toEqual(Array.from({ length: 3 }, () => "rate_limited"));
  });

  test("is answered pending at once when the service shuts down", async () => {
    const replica = await service.listen();
    const started = await start();
    const before = performance.now();
    const waiting = replica.call({ method: "GET", path: `/api/bootstrap/${started.poll_token}` });
    // The poll is in flight once its replica has read the bootstrap and holds the request.
    await expect.poll(() => replica.holding()).toBe(1);
    await replica.close();
    expect((await waiting).status).toBe(202);
    // At its end it would be answered the same.
    expect(performance.now() - before).toBeLessThan(20_000);
  });

  test("never writes its poll token into the API log", async () => {
    const started = await start();
    await deny(started.code);
    await poll(started);
    const { rows } = await service.pool.query("select row_to_json(api_logs)::text as row from api_logs");
    for (const { row } of rows as { row: string }[]) expect(row).not.toContain(started.poll_token);
  });
});
