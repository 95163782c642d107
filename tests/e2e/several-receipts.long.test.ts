import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { declareSource, writeEncryptedDump, type BackupRecord } from "./harness/backups.ts";
import { seal, type Envelope } from "./harness/dsse.ts";
import { expectError } from "./harness/errors.ts";
import { ed25519 } from "./harness/keys.ts";
import { sha256Hex } from "./harness/merkle.ts";
import { api, exchange, type Answer } from "./harness/https.ts";
import { attach, createAuthKey, createOrganisation, type WireAgent } from "./harness/organisation.ts";
import { expectPlaced } from "./harness/placement.ts";
import { startServer, type Server } from "./harness/server.ts";
import { signUp } from "./harness/session.ts";
import { check, restoreTestStatement, type ReceiptAccepted } from "./harness/statements.ts";

let server: Server;
let agent: WireAgent;
let stranger: WireAgent;
let backup: BackupRecord;

beforeAll(async () => {
  server = await startServer();
  agent = await attach(await createOrganisation(server));
  stranger = await attach(await createOrganisation(server));
  backup = await writeEncryptedDump(agent, await declareSource(agent));
});
afterAll(() => server.remove());

async function treeSize(): Promise<number> {
  return (await agent.call("GET", "/v1/log/head")).json<{ tree_size: number }>().tree_size;
}

describe("a body with several receipts", () => {
  interface Line {
    status: number;
    answer: Omit<ReceiptAccepted, "log_index"> & { log_index: number; error: string; request_id: string };
  }

  const NDJSON = { "content-type": "application/x-ndjson" };
  const send = (lines: readonly string[], by = agent, headers: Record<string, string> = {}) =>
    exchange(server, {
      method: "POST",
      path: "/v1/receipts",
      token: by.token,
      body: lines.join("\n"),
      headers: { ...NDJSON, ...headers },
    });
  const linesOf = (answer: Answer): Line[] => {
    expect([answer.status, answer.headers["content-type"]], answer.body.toString()).toEqual([
      200,
      "application/x-ndjson",
    ]);
    const text = answer.body.toString();
    expect(text.endsWith("\n")).toBe(true);
    return text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Line);
  };
  /** Receipts that are the next ones of the agent's chain. */
  const chain = (count: number): string[] =>
    Array.from({ length: count }, () => {
      const envelope = seal(agent.signer, restoreTestStatement(agent, backup));
      agent.previousReceipt = sha256Hex(Buffer.from(envelope.payload, "base64"));
      return JSON.stringify(envelope);
    });

  it("is answered receipt by receipt, in their order, which is the log's", async () => {
    const first = await treeSize();
    const sent = chain(100);
    const answers = linesOf(await send(sent));
    expect(answers.map(({ status }) => status)).toEqual(sent.map(() => 201));
    expect(answers.map(({ answer }) => answer.log_index)).toEqual(sent.map((_, index) => first + index));
    for (const [index, { answer }] of answers.entries()) {
      expectPlaced(agent, answer, answer.receipt_id);
      const { payload } = JSON.parse(sent[index] ?? "") as Envelope;
      expect(answer.leaf["body_sha256"]).toBe(sha256Hex(Buffer.from(payload, "base64")));
    }
    // Again, because the answer was lost, among others that came before or twice.
    const [again = "", next = ""] = [sent[7], ...chain(1)];
    const repeated = linesOf(await send([next, again, next]));
    expect(repeated.map(({ status, answer }) => [status, answer.log_index])).toEqual([
      [201, first + 100],
      [201, first + 7],
      [201, first + 100],
    ]);
    expect(await treeSize()).toBe(first + 101);
  });

  it("puts each of them in the log once if it is sent twice at once", async () => {
    const before = await treeSize();
    const sent = chain(50);
    const [one, two] = (await Promise.all([send(sent), send(sent)])).map(linesOf);
    expect(one?.map(({ status }) => status)).toEqual(sent.map(() => 201));
    expect(two?.map(({ answer }) => answer.log_index)).toEqual(one?.map(({ answer }) => answer.log_index));
    expect(await treeSize()).toBe(before + 50);
  });

  it("puts the right ones in the log if others are wrong", async () => {
    const before = await treeSize();
    const [one = "", two = ""] = chain(2);
    const forged = JSON.stringify(seal(ed25519(), restoreTestStatement(agent, backup)));
    const twice = one.replace("{", '{"payload":"",');
    const foreign = JSON.stringify(seal(stranger.signer, restoreTestStatement(stranger, backup)));
    const wrong = ["", "[]", "nothing", "\ufeff{}", `{"payload":1}`, twice, forged, foreign];
    const large = JSON.stringify({ payload: "x".repeat(256 * 1024) });
    const answers = linesOf(await send([one, ...wrong, large, two, ""]));
    expect(answers.map(({ status, answer }) => (status === 201 ? "in the log" : answer.error))).toEqual([
      "in the log",
      "invalid_json",
      "invalid_request",
      "invalid_json",
      "invalid_json",
      "invalid_request",
      "invalid_json",
      "receipt_signature_invalid",
      "receipt_signature_invalid",
      "payload_too_large",
      "in the log",
    ]);
    expect(await treeSize()).toBe(before + 2);
  });

  it("puts them in the log in their order if one among them is refused at once", async () => {
    const next = (result: "passed" | "failed", more: object): string => {
      const statement = restoreTestStatement(agent, backup, result);
      const envelope = seal(agent.signer, {
        ...statement,
        predicate: { ...statement.predicate, ...more },
      });
      agent.previousReceipt = sha256Hex(Buffer.from(envelope.payload, "base64"));
      return JSON.stringify(envelope);
    };
    // It takes longer to verify than the one after it.
    const many = Array.from({ length: 700 }, (_, n) => ({ ...check("failed"), id: `check-${n}` }));
    const sent = Array.from({ length: 14 }, () => [
      next("failed", { checks: many }),
      "[]",
      next("passed", {}),
    ]).flat();
    const places = linesOf(await send(sent)).flatMap(({ status, answer }) =>
      status === 201 ? [answer.log_index] : [],
    );
    expect(places).toHaveLength(28);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });

  it("is refused as a whole if it has no receipt, too many, or an Idempotency-Key", async () => {
    const before = await treeSize();
    for (const lines of [[], Array.from({ length: 101 }, () => "{}")]) {
      const answer = await send(lines);
      expectError(answer, "invalid_request");
      expect(answer.json()["details"]).toMatchObject({ issues: [{ path: "" }] });
    }
    const announced = { "content-length": String(4 * 1024 * 1024 + 1) };
    expectError(await send(["{}"], agent, announced), "payload_too_large");
    const [one = ""] = chain(1);
    const key = { "idempotency-key": "01890a5d-ac96-774b-bcce-b302099a8057" };
    expectError(await send([one], agent, key), "invalid_idempotency_key");
    expectError(
      await agent.call("POST", "/v1/events", undefined, { body: one, headers: NDJSON }),
      "unsupported_media_type",
    );
    const call = { method: "POST", path: "/v1/receipts", body: one, headers: NDJSON };
    expectError(await api(server, call), "unauthenticated");
    expect(await treeSize()).toBe(before);
  });

  it("counts as that many calls, and adds one row to the API log", async () => {
    const { token, orgId } = await signUp([server]);
    const own = await attach({ server, id: orgId, authKey: await createAuthKey(server, orgId) });
    const left = async (lines: number): Promise<number> => {
      const answer = await send(
        Array.from({ length: lines }, () => "{}"),
        own,
      );
      return Number(/"default";r=(\d+)/.exec(String(answer.headers["ratelimit"]))?.[1]);
    };
    const before = await left(1);
    expect(before - (await left(60))).toBe(60);
    const its = await writeEncryptedDump(own, await declareSource(own));
    const receipt = (): string => JSON.stringify(seal(own.signer, restoreTestStatement(own, its)));
    const answer = await send([receipt(), "{}", receipt()], own);
    expect(linesOf(answer).map(({ status }) => status)).toEqual([201, 400, 201]);
    const requestId = answer.headers["x-request-id"];
    const logs = await api(server, { method: "GET", path: `/api/orgs/${orgId}/api-logs`, token });
    const rows = logs.json<{ items: { request_id: string; status: number }[] }>().items;
    expect(rows.filter(({ request_id }) => request_id === requestId).map(({ status }) => status)).toEqual([
      200,
    ]);
    expect(linesOf(answer)[1]?.answer.request_id).toBe(requestId);
  });
});
