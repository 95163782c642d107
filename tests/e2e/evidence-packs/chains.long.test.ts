import { createHash } from "node:crypto";
import {
  parsePublicKeyWire,
  parseVerifierKey,
  type EventBundle,
  type NoteVerifier,
  sshFingerprint,
} from "@attestore/proof";
import { beforeEach, describe, expect, test } from "vitest";
import { restoreTestStatement } from "../../../packages/proof/test/receipt-fixture.ts";
import type { CheckedReceipt } from "../../../packages/verifier/src/pack/entries/check-receipt.ts";
import { keptStatement } from "../../../packages/verifier/src/pack/entries/kept-statement.ts";
import { Chains, linkOf } from "../../../packages/verifier/src/pack/entries/chains.ts";
import { answerOfPacks } from "../../../packages/verifier/src/pack/answer-of-packs.ts";
import { packsText } from "../../../packages/verifier/src/pack/report-packs.ts";
import { Findings } from "../../../packages/verifier/src/pack/findings.ts";
import type { PackOutcome } from "../../../packages/verifier/src/pack/verify-pack.ts";
import {
  restoreTestStatement as restoreTestOf,
  signedEnvelope,
} from "../../../packages/orchestrator/test/log/signed-receipt.ts";
import { type History, makeHistory } from "../../../packages/orchestrator/test/history.ts";
import { newKeyPair, type TestAgent, type TestUser } from "../../../packages/orchestrator/test/service.ts";
import { signedEventBody } from "../../../packages/orchestrator/test/log/signed-event.ts";
import { filesOf, MINUTE_MS, save, withManifest, writeZip } from "../harness/packs.ts";
import { idsOf, makeGoodPack } from "./good-pack.ts";

const { organisation, file, verify } = await makeGoodPack();

test("a receipt of an agent that has lost its source since is as true as others", async () => {
  const { service } = organisation;
  const org = await service.addOrg();
  const owner = await service.signIn(org);
  const from = new Date().toISOString();
  const { agent, sourceId, backups } = await makeHistory(service, org);
  const key = parsePublicKeyWire(agent.publicKeyWire);
  const signer = { ...agent, publicKey: key.bytes, keyFingerprint: sshFingerprint(key) };
  const [{ id, sha256 } = expect.unreachable()] = backups;
  const finished_at = new Date().toISOString();
  const statement = restoreTestOf(signer, { id, sha256, sourceId, sizeBytes: 64 }, { finished_at });
  const next = await service.attach(org);
  const path = `/api/orgs/${org.id}/sources/${sourceId}`;
  expect((await owner.post(`${path}/configure`, { agent_id: next.id })).status).toBe(200);
  const sent = await agent.post("/v1/receipts", undefined, {
    body: signedEnvelope(signer, statement),
    headers: { "content-type": "application/json" },
  });
  expect(sent.status, String(sent.body)).toBe(201);
  expect((await owner.get(path)).json["last_proven_at"]).toBe(finished_at);
  await save(file("late.zip"), (await owner.get(`/api/orgs/${org.id}/evidence?from=${from}`)).body);
  const outcome = await verify(file("late.zip"), parseVerifierKey(agent.log.verifier_key), [agent]);
  expect(outcome.checks.filter(({ result }) => result !== "held")).toEqual([]);
  expect(outcome.summary?.totals.restore_tests).toMatchObject({ passed: 2, failed: 0 });
});

test("a receipt whose predecessor is not in the log shows a gap, even if it is the agent's first in the pack", async () => {
  const chain = (id: string, previous: string | null, bodySha256: string): CheckedReceipt => {
    const statement = restoreTestStatement();
    statement.predicate.previous_receipt_sha256 = previous;
    const [recordedAt, keyFingerprint] = ["2026-11-20T03:00:00.000Z", ""];
    return {
      file: 0,
      id,
      logIndex: 0,
      recordedAt,
      bodySha256,
      statement: keptStatement(statement),
      keyFingerprint,
      isEarlier: false,
    };
  };
  const detailOf = async (receipts: CheckedReceipt[], otherBodies: string[] = []): Promise<string> => {
    const findings = new Findings();
    const chains = new Chains((file) => receipts[file]?.id ?? expect.unreachable());
    for (const [file, each] of receipts.entries())
      chains.add(linkOf({ ...each, file }) ?? expect.unreachable());
    await chains.check(findings, [...otherBodies, ...receipts.map(({ bodySha256 }) => bodySha256)]);
    const { result, detail } = findings.lines().find(({ id }) => id === "chains") ?? expect.unreachable();
    return `${result}: ${detail}`;
  };
  expect(await detailOf([chain("a", null, "a"), chain("b", "a", "b")])).toBe("held: of 1 agent");
  expect(await detailOf([chain("b", "a", "b"), chain("c", "b", "c")])).toMatch(
    /^not_checked: 1 receipt refers/,
  );
  expect(await detailOf([chain("b", "a", "b")], ["a"])).toBe("held: of 1 agent");
  expect(await detailOf([chain("a", null, "a"), chain("c", "b", "c")])).toMatch(
    /^not_checked: 1 receipt refers/,
  );
});

describe("events that an agent signed", () => {
  let agent: TestAgent;
  let owner: TestUser;
  let orgId: string;
  let from: string;
  let log: NoteVerifier;
  let last: string | null;
  let history: History;

  const submit = async (path: string, body: Buffer): Promise<string> => {
    const headers = { "content-type": "application/json" };
    const answer = await agent.post(path, undefined, { body, headers });
    expect(answer.status, String(answer.body)).toBe(201);
    return (answer.json["event_id"] ?? answer.json["receipt_id"]) as string;
  };
  const follow = (payload: string): void => {
    last = createHash("sha256").update(Buffer.from(payload, "base64")).digest("hex");
  };
  const receipt = async (result: "passed" | "failed" = "passed"): Promise<void> => {
    const key = parsePublicKeyWire(agent.publicKeyWire);
    const signer = { ...agent, publicKey: key.bytes, keyFingerprint: sshFingerprint(key) };
    const [{ id, sha256 } = expect.unreachable()] = history.backups;
    const statement = restoreTestOf(
      signer,
      { id, sha256, sourceId: history.sourceId, sizeBytes: 64 },
      { result, finished_at: new Date().toISOString(), previous_receipt_sha256: last },
    );
    const body = signedEnvelope(signer, statement);
    await submit("/v1/receipts", body);
    follow((JSON.parse(String(body)) as { payload: string }).payload);
  };
  const signed = (reason: string) => {
    const event = {
      kind: "restore_failed",
      source_id: history.sourceId,
      occurred_at: new Date().toISOString(),
      detail: { reason },
    };
    const { body } = signedEventBody(agent, event, { previous_receipt_sha256: last });
    follow(body.envelope.payload);
    return Buffer.from(JSON.stringify(body));
  };
  const told = (reason: string): Promise<string> => submit("/v1/events", signed(reason));
  const packOf = async (): Promise<PackOutcome> => {
    await save(file("signed.zip"), (await owner.get(`/api/orgs/${orgId}/evidence?from=${from}`)).body);
    return verify(file("signed.zip"), log, [agent]);
  };
  const lineOf = ({ checks }: PackOutcome, id: string) => checks.find((check) => check.id === id);

  beforeEach(async () => {
    const { service } = organisation;
    const org = await service.addOrg();
    orgId = org.id;
    owner = await service.signIn(org);
    from = new Date(Date.now() - MINUTE_MS).toISOString();
    history = await makeHistory(service, org);
    agent = history.agent;
    log = parseVerifierKey(agent.log.verifier_key);
    last = null;
  });

  test("are links of its chain, and a pack with all of them is true", async () => {
    await receipt();
    await told("no space left");
    await told("no space left yet");
    await receipt();
    const outcome = await packOf();
    expect(outcome.checks.filter(({ result }) => result !== "held")).toEqual([]);
    expect(lineOf(outcome, "events")?.detail).not.toContain("not signed");
    // The next pack begins behind it: its first receipt follows on an event that is before the
    // period.
    await told("the last one before");
    from = new Date().toISOString();
    await receipt();
    expect((await packOf()).checks.filter(({ result }) => result !== "held")).toEqual([]);
  });

  test("show an event that was dropped between two receipts", async () => {
    await receipt();
    // The service answered it, or never did, and did not log it.
    signed("no space left");
    await receipt();
    const outcome = await packOf();
    expect(outcome.verdict).toBe("cannot_tell");
    expect(lineOf(outcome, "chains")).toMatchObject({ result: "not_checked" });
  });

  test("show an event that was invented in the agent's name", async () => {
    await told("no space left");
    const event = {
      kind: "backup_failed",
      occurred_at: new Date().toISOString(),
      detail: { reason: "none" },
    };
    const id = await submit("/v1/events", Buffer.from(JSON.stringify(event)));
    const outcome = await packOf();
    expect(outcome.verdict).toBe("cannot_tell");
    expect(lineOf(outcome, "events")?.detail).toContain(id);
    expect(outcome.basis?.events).toMatchObject({
      signed: 1,
      unsigned: [{ agent_id: agent.id, count: 1, ids: [id] }],
    });
  });

  test("are distinguished from those of an agent that never signed one, which the service could invent", async () => {
    const event = {
      kind: "restore_failed",
      occurred_at: new Date().toISOString(),
      detail: { reason: "made up" },
    };
    const id = await submit("/v1/events", Buffer.from(JSON.stringify(event)));
    await receipt();
    const outcome = await packOf();
    expect(outcome.verdict).toBe("true");
    expect(outcome.basis?.events).toMatchObject({
      signed: 0,
      unsigned: [{ agent_id: agent.id, count: 1, ids: [id] }],
    });
    expect(lineOf(outcome, "events")?.detail).toContain("1 of them, attributed to an agent, are not signed");
    const words = packsText(answerOfPacks([outcome], false), (_style, text) => text);
    expect(words).toContain(
      `unsigned   1 event attributed to ${agent.id}, which the operator could have invented: ${id}`,
    );
  });

  test("with receipts of passed tests are a green TRUE on a terminal, and not with one of a failed test", async () => {
    const shown = (outcome: PackOutcome): string =>
      packsText(answerOfPacks([outcome], false), (style, text) => `<${String(style)}>${text}`);
    await receipt();
    expect(shown(await packOf())).toMatch(/^<green>TRUE /);
    await receipt("failed");
    expect(shown(await packOf())).toMatch(/^<bold>TRUE /);
  });

  test("cannot be changed in their detail, by another key's signature, or by leaving out the signature", async () => {
    const id = await told("no space left");
    await packOf();
    const files = await filesOf(file("signed.zip"));
    const path = `events/${id}.json`;
    const { signer } = organisation.service;
    const forged = async (change: (bundle: EventBundle) => EventBundle): Promise<PackOutcome> => {
      const changed = new Map(files);
      const bundle = change(JSON.parse(String(files.get(path))) as EventBundle);
      changed.set(path, Buffer.from(JSON.stringify(bundle)));
      await writeZip(
        file("forged.zip"),
        await withManifest(changed, (origin, text) => signer.signText(origin, text)),
      );
      return verify(file("forged.zip"), log, [agent]);
    };
    expect(idsOf(await forged((bundle) => bundle), "failed")).toEqual([]);
    const stranger = { ...agent, ...newKeyPair() };
    for (const change of [
      (bundle: EventBundle) => ({ ...bundle, event: { ...bundle.event, detail: { reason: "other" } } }),
      (bundle: EventBundle) => {
        const { envelope, ...unsigned } = bundle;
        expect(envelope).toBeDefined();
        return unsigned;
      },
      (bundle: EventBundle) => {
        const event = { ...bundle.event, detail: { reason: "other" } };
        return { ...bundle, event, envelope: signedEventBody(stranger, event).body.envelope };
      },
    ]) {
      const outcome = await forged(change);
      expect(outcome.verdict).toBe("false");
      expect(idsOf(outcome, "failed")).toContain("events");
    }
  });

  test("do not count as the agent's if they are signed with a key that the service's operator made", async () => {
    const own = { ...agent, ...newKeyPair() };
    const event = {
      kind: "restore_failed",
      occurred_at: new Date().toISOString(),
      detail: { reason: "none" },
    };
    const id = await told("no space left");
    // As the operator can: the log's own entry is of what another key signed.
    const { body, sha256 } = signedEventBody(own, event);
    const { pool } = organisation.service;
    const refused = await agent.post("/v1/events", body);
    expect([refused.status, refused.json["error"]]).toEqual([422, "receipt_signature_invalid"]);
    await pool.query("update events set envelope = $2, payload_sha256 = decode($3, 'hex') where id = $1", [
      id,
      Buffer.from(JSON.stringify(body.envelope)),
      sha256,
    ]);
    expect((await packOf()).verdict).toBe("false");
  });
});
