import { AGENT_TOKEN, isId } from "@attestore/contract";
import { generateKeyPairSync } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ownAddress, type Answer } from "../../../test/client.ts";
import { ENDLESS_S, endless } from "../../../test/endless-windows.ts";
import {
  attachBody,
  heartbeat,
  newKeyPair,
  startTestService,
  type TestOrg,
  type TestService,
} from "../../../test/service.ts";

let service: TestService;
let org: TestOrg;
beforeAll(async () => {
  service = await startTestService({ rateLimits: endless("attach_failures") });
});
beforeEach(async () => {
  org = await service.addOrg();
});
afterAll(() => service.close());

function knock(token: string | undefined, more: { from?: string; json?: unknown } = {}): Promise<Answer> {
  return service.call({
    method: "POST",
    path: "/api/bootstrap/attach",
    token,
    json: more.json ?? attachBody(),
    from: more.from ?? ownAddress(),
  });
}

/** The same public id with another secret of the right shape. */
function wrong(authKey: string, n = 0): string {
  return `${authKey.slice(0, 15)}${Buffer.alloc(24, n + 1).toString("base64url")}`;
}

function code({ status, json }: Answer): unknown {
  return status === 201 ? 201 : json["error"];
}

/** 32 bytes of which the first, the middle and the last are told. */
function encodedY(first: number, middle: number, last: number): Buffer {
  const bytes = Buffer.alloc(32, middle);
  bytes[0] = first;
  bytes[31] = last;
  return bytes;
}

async function keyRow(publicId: string) {
  return service.database
    .selectFrom("auth_keys")
    .selectAll()
    .where("public_id", "=", publicId)
    .executeTakeFirstOrThrow();
}

describe("attaching with an auth key", () => {
  test("mints an agent, its token and the log's entry, and nothing in plain text", async () => {
    const { publicKeyWire } = newKeyPair();
    const answer = await knock(org.authKey, { json: attachBody(publicKeyWire) });
    expect(answer.status).toBe(201);
    const token = answer.json["api_token"] as string;
    expect(token).toMatch(AGENT_TOKEN);
    expect(answer.json).toMatchObject({ org_id: org.id, heartbeat_interval_s: 60 });
    expect(isId("agent", answer.json["agent_id"] as string)).toBe(true);
    const agent = await service.database
      .selectFrom("agents")
      .selectAll()
      .where("id", "=", answer.json["agent_id"] as string)
      .executeTakeFirstOrThrow();
    expect(agent.public_key.toString("base64")).toBe(publicKeyWire);
    expect(agent.last_seen_at).toBeNull();
    const events = await service.database
      .selectFrom("events")
      .selectAll()
      .where("org_id", "=", org.id)
      .execute();
    expect(events.map(({ kind }) => kind)).toEqual(["agent_attached"]);
    expect(JSON.parse(String(events[0]?.body))).toMatchObject({
      detail: { agent_id: agent.id, key_fingerprint: agent.key_fingerprint },
    });
  });

  test("takes an ECDSA P-256 key as its 91 bytes of SubjectPublicKeyInfo", async () => {
    const { publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
    const wire = publicKey.export({ format: "der", type: "spki" }).toString("base64");
    expect((await knock(org.authKey, { json: attachBody(wire) })).status).toBe(201);
  });

  test.each([
    ["the neutral element", encodedY(1, 0, 0)],
    ["a point of order 2", encodedY(0xec, 0xff, 0x7f)],
    ["a point of order 4", Buffer.alloc(32)],
    ["a coordinate that is not reduced", encodedY(0xee, 0xff, 0x7f)],
    ["no point of the curve", encodedY(2, 0, 0)],
    ["an SPKI of another curve", Buffer.alloc(91, 0x30)],
  ])("refuses a key that proves nothing: %s", async (_what, key) => {
    const answer = await knock(org.authKey, { json: attachBody(key.toString("base64")) });
    expect([answer.status, answer.json["error"]]).toEqual([400, "invalid_request"]);
    expect(answer.json["details"]).toMatchObject({ issues: [{ path: "/public_key" }] });
  });

  test("says the same of an unknown key, a wrong secret, an expired and a revoked key", async () => {
    const expired = await service.addAuthKey(org.id);
    await service.pool.query("update auth_keys set expires_at = now() where public_id = $1", [
      expired.slice(4, 14),
    ]);
    const revoked = await service.addAuthKey(org.id);
    await service.pool.query("update auth_keys set revoked_at = now() where public_id = $1", [
      revoked.slice(4, 14),
    ]);
    const answers = await Promise.all(
      [`atk_${"0".repeat(10)}_${"A".repeat(32)}`, wrong(org.authKey), expired, revoked].map((token) =>
        knock(token),
      ),
    );
    expect(answers.map(({ status, json }) => [status, json["error"], json["message"]])).toEqual(
      answers.map(() => [401, "auth_key_invalid", answers[0]?.json["message"]]),
    );
  });

  test("asks for a credential that could be one", async () => {
    for (const token of [
      undefined,
      "x",
      org.authKey.slice(0, -1),
      `${org.authKey}A`,
      `ats_${"A".repeat(43)}`,
    ]) {
      const answer = await knock(token);
      expect([answer.status, answer.json["error"]], token).toEqual([401, "unauthenticated"]);
    }
  });

  test("lets no more agents in than max_uses, however many come at once", async () => {
    const key = await service.addAuthKey(org.id, { maxUses: 3 });
    const answers = await Promise.all(Array.from({ length: 12 }, () => knock(key)));
    expect(answers.map(code).filter((each) => each === 201)).toHaveLength(3);
    expect(new Set(answers.map(code))).toEqual(new Set([201, "auth_key_invalid"]));
    expect((await keyRow(key.slice(4, 14))).uses).toBe(3);
  });

  test("does not use the key up with requests that are refused", async () => {
    const key = await service.addAuthKey(org.id, { maxUses: 1 });
    expect((await knock(key, { json: attachBody(Buffer.alloc(32).toString("base64")) })).status).toBe(400);
    expect((await knock(key)).status).toBe(201);
  });
});

describe("wrong secrets", () => {
  test("of 20 at once, exactly five are compared: four are invalid, and the fifth burns the key for all others", async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => knock(wrong(org.authKey, n))));
    expect(answers.map(code).filter((each) => each === "auth_key_invalid")).toHaveLength(4);
    expect(answers.filter(({ status }) => status === 403).map(code)).toEqual(
      Array.from({ length: 16 }, () => "auth_key_burned"),
    );
    expect((await keyRow(org.authKey.slice(4, 14))).wrong_attempts).toBe(5);
    const right = await knock(org.authKey);
    expect([right.status, right.json["error"]]).toEqual([403, "auth_key_burned"]);
  });

  test("race with the right one: it is let in or burned, never called invalid", async () => {
    const tokens = Array.from({ length: 30 }, (_, n) => (n % 2 === 0 ? wrong(org.authKey, n) : org.authKey));
    const answers = await Promise.all(tokens.map((token) => knock(token)));
    expect(answers.map(code).filter((each) => each === "auth_key_invalid")).toHaveLength(4);
    expect(code(await knock(org.authKey))).toBe("auth_key_burned");
  });

  test("count on every replica together, and the burn outlives the process that saw it", async () => {
    const second = await service.listen();
    const call = (token: string) => ({
      method: "POST",
      path: "/api/bootstrap/attach",
      token,
      json: attachBody(),
      from: ownAddress(),
    });
    for (let n = 0; n < 4; n++) {
      const replica = n % 2 === 0 ? service : second;
      expect(code(await replica.call(call(wrong(org.authKey, n))))).toBe("auth_key_invalid");
    }
    expect(code(await second.call(call(wrong(org.authKey, 4))))).toBe("auth_key_burned");
    await second.close();
    expect(code(await service.call(call(org.authKey)))).toBe("auth_key_burned");
    const third = await service.listen();
    expect(code(await third.call(call(org.authKey)))).toBe("auth_key_burned");
    await third.close();
  });

  test("are recorded for the key's organisation", async () => {
    await knock(wrong(org.authKey));
    await expect
      .poll(async () =>
        service.database
          .selectFrom("api_logs")
          .select(["actor_kind", "route", "status"])
          .where("org_id", "=", org.id)
          .execute(),
      )
      .toEqual([{ actor_kind: "auth_key", route: "/api/bootstrap/attach", status: 401 }]);
  });
});

describe("the limit of 30 failures an hour and address", () => {
  test("refuses the 31st attempt, also with the right key, and no other address; it holds on every replica", async () => {
    const from = ownAddress();
    for (let n = 0; n < 30; n++) {
      const answer = await knock(`atk_${String(n).padStart(10, "0")}_${"B".repeat(32)}`, { from });
      expect(answer.status).toBe(401);
      expect(answer.headers["ratelimit"]).toMatch(new RegExp(`^"attach_failures";r=${29 - n};t=[1-9]\\d*$`));
      expect(answer.headers["ratelimit-policy"]).toBe(`"attach_failures";q=30;w=${ENDLESS_S}`);
    }
    const second = await service.listen();
    for (const replica of [service, second]) {
      const answer = await replica.call({
        method: "POST",
        path: "/api/bootstrap/attach",
        token: org.authKey,
        json: attachBody(),
        from,
      });
      expect([answer.status, answer.json["error"]]).toEqual([429, "rate_limited"]);
      expect(answer.headers["retry-after"]).toMatch(/^[1-9]\d*$/);
    }
    await second.close();
    expect((await knock(org.authKey)).status).toBe(201);
  });

  test("does not count a fleet that attaches from one address", async () => {
    const from = ownAddress();
    const fleet = await Promise.all(Array.from({ length: 40 }, () => knock(org.authKey, { from })));
    expect(new Set(fleet.map(code))).toEqual(new Set([201]));
  });
});

test("a heartbeat with the new token is answered", async () => {
  const agent = await service.attach(org);
  expect((await agent.post("/v1/heartbeat", heartbeat())).status).toBe(200);
});
