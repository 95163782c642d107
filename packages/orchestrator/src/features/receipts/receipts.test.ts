import type { EnvelopeRequest } from "@attestore/contract";
import { newId, ReceiptAccepted, type ConfigureSourceRequest } from "@attestore/contract";
import { formatStatement, type Statement } from "@attestore/proof";
import { Value } from "typebox/value";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ApiError } from "../../platform/errors/api-error.ts";
import { inclusionAnswer } from "../submissions/inclusion-answer.ts";
import {
  openLogWorld,
  type LogWorld,
  type Replica,
  type TestAgent,
  type TestBackup,
} from "../../../test/log/log-world.ts";
import {
  backupStatement,
  envelopeOf,
  restoreTestStatement,
  signedEnvelope,
} from "../../../test/log/signed-receipt.ts";
import { placed, principalOf, submitReceipt } from "../../../test/log/submit.ts";
import { verifyEntryInclusion } from "../../../test/log/verify-inclusion.ts";
import { commandRecord } from "../commands/serialize.ts";
import { findCommand, setAcked, takeForDelivery } from "../commands/store.ts";
import { queueCommand } from "../command-queue/queue-command.ts";
import { configureSource } from "../source-settings/configure-source.ts";
import { findSource } from "../sources/store.ts";
import { SUBMISSION_WINDOW_MS } from "./submission-window.ts";
import { verifySubmission } from "./verify-submission.ts";

let world: LogWorld;
let replica: Replica;
let agent: TestAgent;
let tester: TestAgent;
let backup: TestBackup;

beforeAll(async () => {
  world = await openLogWorld();
  replica = world.addReplica();
});
afterAll(() => world.close());
beforeEach(async () => {
  agent = await world.addAgent(await world.addOrg());
  tester = await world.addAgent(agent.orgId);
  backup = await world.addBackup(agent, tester);
});

const submit = async (by: TestAgent, statement: Statement) =>
  placed(await submitReceipt(replica, by, signedEnvelope(by, statement)));

async function times(): Promise<Record<"proven_at" | "last_proven_at" | "last_backup_at", Date | null>> {
  const { rows } = await world.pool.query<Awaited<ReturnType<typeof times>>>(
    "select proven_at, last_proven_at, last_backup_at from backups join sources on sources.id = source_id where backups.id = $1",
    [backup.id],
  );
  if (rows[0] === undefined) throw new Error("no backup");
  return rows[0];
}

test("the answer has the contract's shape and a proof that verifies", async () => {
  const inclusion = await submit(agent, backupStatement(agent, backup));
  await verifyEntryInclusion(replica.signer.identity, inclusion);
  const { status, body } = inclusionAnswer("receipt_id", inclusion, false);
  expect(status).toBe(201);
  expect([...Value.Errors(ReceiptAccepted, JSON.parse(body.toString()))]).toEqual([]);
});

test("the body is stored as received, with what its statement says", async () => {
  const statement = restoreTestStatement(agent, backup, { previous_receipt_sha256: "ab".repeat(32) });
  const body = Buffer.concat([Buffer.from("  "), signedEnvelope(agent, statement), Buffer.from("\n")]);
  const { id, logIndex } = placed(await submitReceipt(replica, agent, body));
  const { rows } = await world.pool.query("select * from receipts where id = $1", [id]);
  expect(rows).toMatchObject([
    {
      kind: "restore_test",
      result: "passed",
      agent_id: agent.id,
      source_id: backup.sourceId,
      backup_id: backup.id,
      log_index: logIndex,
      envelope: body,
      previous_receipt_sha256: Buffer.from("ab".repeat(32), "hex"),
    },
  ]);
});

test("a receipt of a backup sets when the source was last backed up; one of a test that passed, when it was last proven", async () => {
  expect(await times()).toEqual({ proven_at: null, last_proven_at: null, last_backup_at: null });
  await submit(agent, backupStatement(agent, backup, { finished_at: "2026-01-02T00:00:00.000Z" }));
  expect(await times()).toEqual({
    proven_at: null,
    last_proven_at: null,
    last_backup_at: new Date("2026-01-02T00:00:00Z"),
  });
  const finished_at = "2026-01-03T00:00:00.000Z";
  await submit(
    tester,
    restoreTestStatement(tester, backup, { finished_at, result: "failed", checks: [], reason: "no" }),
  );
  expect(await times()).toMatchObject({ proven_at: null, last_proven_at: null });
  await submit(tester, restoreTestStatement(tester, backup, { finished_at }));
  expect(await times()).toMatchObject({
    proven_at: new Date(finished_at),
    last_proven_at: new Date(finished_at),
  });
});

test("a backup that failed a test has the time and receipt of the failure; a late receipt does not move it back", async () => {
  const fail = (finished_at: string) =>
    submit(
      tester,
      restoreTestStatement(tester, backup, { finished_at, result: "failed", checks: [], reason: "no" }),
    );
  const failed = async () => {
    const { rows } = await world.pool.query(
      "select failed_at, failed_receipt_id from backups where id = $1",
      [backup.id],
    );
    return rows[0] as unknown;
  };
  expect(await failed()).toEqual({ failed_at: null, failed_receipt_id: null });
  await fail("2026-01-03T00:00:00.000Z");
  const { id } = await fail("2026-01-04T00:00:00.000Z");
  await fail("2026-01-02T00:00:00.000Z");
  await submit(tester, restoreTestStatement(tester, backup, { finished_at: "2026-01-05T00:00:00.000Z" }));
  expect(await failed()).toEqual({ failed_at: new Date("2026-01-04T00:00:00Z"), failed_receipt_id: id });
});

test("a backup in which a test found something suspicious says when, whether the test passed or failed", async () => {
  const suspicious = {
    v: 1 as const,
    tables: [],
    left_out: 0,
    suspicious: [{ table: "orders", column: "note", measure: "random" as const, now: 12, before: 0 }],
  };
  const at = async () => {
    const { rows } = await world.pool.query("select suspicious_at from backups where id = $1", [backup.id]);
    return (rows[0] as { suspicious_at: Date | null }).suspicious_at;
  };
  const test = (day: string, more: object) =>
    submit(
      tester,
      restoreTestStatement(tester, backup, { finished_at: `2026-01-${day}T00:00:00.000Z`, ...more }),
    );
  await test("05", { profile: { ...suspicious, suspicious: [] } });
  expect(await at()).toBeNull();
  await test("06", { profile: suspicious });
  expect(await at()).toEqual(new Date("2026-01-06T00:00:00Z"));
  await test("08", { profile: suspicious, result: "failed", checks: [], reason: "no" });
  await test("07", { profile: suspicious });
  await test("09", {});
  expect(await at()).toEqual(new Date("2026-01-08T00:00:00Z"));
});

test("a late receipt moves no time back, and a fast clock moves none beyond now", async () => {
  const prove = (finished_at: string) => submit(agent, restoreTestStatement(agent, backup, { finished_at }));
  await prove("2026-01-03T00:00:00.000Z");
  await prove("2026-01-01T00:00:00.000Z");
  expect((await times()).last_proven_at).toEqual(new Date("2026-01-03T00:00:00Z"));
  await prove("2999-01-01T00:00:00.000Z");
  expect((await times()).last_proven_at?.getTime()).toBeLessThanOrEqual(Date.now());
});

test("many receipts of one source in one batch, oldest last, leave the newest time", async () => {
  const days = ["09", "12", "10", "08"].map((day) => `2026-02-${day}T00:00:00.000Z`);
  await Promise.all(
    days.map((finished_at) => submit(agent, restoreTestStatement(agent, backup, { finished_at }))),
  );
  expect((await times()).proven_at).toEqual(new Date("2026-02-12T00:00:00Z"));
});

test("a receipt has its API log row from the same transaction, once", async () => {
  await submit(agent, backupStatement(agent, backup));
  const { rows } = await world.pool.query("select status, user_agent from api_logs where actor_id = $1", [
    agent.id,
  ]);
  expect(rows).toEqual([{ status: 201, user_agent: 'quo"ted, {curly}' }]);
});

test("the chain of receipts is recorded, not enforced: a receipt with no or another predecessor is accepted", async () => {
  for (const previous_receipt_sha256 of [null, "00".repeat(32), null, "00".repeat(32)])
    await submit(
      agent,
      restoreTestStatement(agent, backup, { previous_receipt_sha256, agent_version: String(Math.random()) }),
    );
  const { rows } = await world.pool.query("select 1 from receipts where agent_id = $1", [agent.id]);
  expect(rows).toHaveLength(4);
});

const refusals: readonly [string, string, () => Promise<[TestAgent, Statement]>][] = [
  [
    "a backup that is not there",
    "backup_unknown",
    async () => [agent, changed({ id: "bkp_2x4y6z8a0b1c2d3e4f5g6h7j8k" })],
  ],
  [
    "another organisation's backup",
    "backup_unknown",
    async () => {
      const stranger = await world.addAgent(await world.addOrg());
      return [stranger, restoreTestStatement(stranger, backup)];
    },
  ],
  [
    "another source",
    "statement_mismatch",
    async () => [agent, changed({ sourceId: (await world.addBackup(agent)).sourceId })],
  ],
  ["another digest", "statement_mismatch", async () => [agent, changed({ sha256: "00".repeat(32) })]],
  [
    "another size",
    "statement_mismatch",
    async () => [agent, backupStatement(agent, backup, { size_bytes: backup.sizeBytes + 1 })],
  ],
  [
    "a backup that another agent made",
    "statement_mismatch",
    async () => [tester, backupStatement(tester, backup)],
  ],
  [
    "a test by an agent that is neither of the source's",
    "statement_mismatch",
    async () => {
      const third = await world.addAgent(agent.orgId);
      return [third, restoreTestStatement(third, backup)];
    },
  ],
  [
    "another organisation",
    "statement_mismatch",
    async () => [agent, restoreTestStatement({ ...agent, orgId: await world.addOrg() }, backup)],
  ],
  ["another agent", "statement_mismatch", async () => [agent, restoreTestStatement(tester, backup)]],
];

const changed = (more: Partial<TestBackup>): Statement => restoreTestStatement(agent, { ...backup, ...more });

test.each(refusals)("the service refuses %s, and logs nothing", async (_what, code, make) => {
  const [by, statement] = await make();
  await expect(submit(by, statement)).rejects.toMatchObject({ code });
  const { rows } = await world.pool.query("select 1 from log_leaves where org_id = $1", [by.orgId]);
  expect(rows).toEqual([]);
});

const envelopes: readonly [string, string, () => Buffer][] = [
  [
    "what another key signed",
    "receipt_signature_invalid",
    () => signedEnvelope({ ...agent, privateKey: tester.privateKey }, restoreTestStatement(agent, backup)),
  ],
  [
    "a keyid of another key",
    "statement_mismatch",
    () =>
      signedEnvelope(
        { ...agent, keyFingerprint: tester.keyFingerprint },
        restoreTestStatement(agent, backup),
      ),
  ],
  [
    "no keyid",
    "statement_mismatch",
    () => signedEnvelope({ ...agent, keyFingerprint: "" }, restoreTestStatement(agent, backup)),
  ],
  ["a payload that is no statement", "statement_invalid", () => envelopeOf(agent, Buffer.from("{}"))],
  ["a payload that is no JSON", "statement_invalid", () => envelopeOf(agent, Buffer.from("hello"))],
  [
    "another payload type",
    "statement_invalid",
    () => envelopeOf(agent, formatStatement(restoreTestStatement(agent, backup)), "text/plain"),
  ],
  ["no envelope", "invalid_request", () => Buffer.from("{}")],
];

const requestOf = (body: Buffer): EnvelopeRequest => JSON.parse(body.toString()) as EnvelopeRequest;

test.each(envelopes)("the service refuses %s before anything is looked up", async (_what, code, make) => {
  await expect(verifySubmission(requestOf(make()), principalOf(agent))).rejects.toMatchObject({ code });
});

test("a receipt with texts that PostgreSQL cannot hold is recorded, or refused, and fails none of another organisation", async () => {
  const other = await world.addAgent(await world.addOrg());
  const [nul, half] = [await world.addAgent(agent.orgId), await world.addAgent(agent.orgId)];
  const of = async (by: TestAgent, more: (text: string) => object, text: string): Promise<Buffer> => {
    const statement = backupStatement(by, await world.addBackup(by), more(text));
    return envelopeOf(by, Buffer.from(JSON.stringify(statement)));
  };
  const everywhere = (text: string) => ({
    agent_version: `1${text}`,
    cipher: { name: "age-v1" as const, recipients: [`age1${text}`] },
    source_metadata: {
      engine: text,
      engine_version: text,
      dump_format: text,
      schema_hash: text,
      [text]: text,
    },
    started_at: "0001-01-01T00:00:00.000Z",
    finished_at: "0001-01-01T00:00:00.000Z",
  });
  const nothing = () => ({});
  const sent = [
    await of(other, nothing, ""),
    await of(nul, everywhere, "a\0b"),
    await of(half, everywhere, "\ud800"),
    await of(other, nothing, ""),
  ];
  const by = [other, nul, half, other] as const;
  const results = await Promise.allSettled(sent.map((body, n) => submitReceipt(replica, by[n]!, body)));
  expect(results).toMatchObject([
    { status: "fulfilled", value: { is: "placed" } },
    { status: "fulfilled", value: { is: "placed" } },
    { status: "rejected", reason: { code: "statement_invalid" } },
    { status: "fulfilled", value: { is: "placed" } },
  ]);
});

test.each([
  ["no member", {}, "/payload"],
  ["a payload that is no base64", { payload: "§" }, "/payload"],
  ["no signature", { signatures: [] }, "/signatures"],
])("a refusal names the fault of an envelope with %s, and its place", async (_what, more, place) => {
  const good = requestOf(signedEnvelope(agent, restoreTestStatement(agent, backup)));
  const body = Object.keys(more).length === 0 ? {} : { ...good, ...more };
  const error = await verifySubmission(body as EnvelopeRequest, principalOf(agent)).catch(
    (thrown: unknown) => thrown as ApiError,
  );
  const message = expect.stringContaining(place) as string;
  expect(error).toMatchObject({
    code: "invalid_request",
    details: { issues: [{ path: "", message }] },
  });
});

test("a keyid of another key is a mismatch of that field", async () => {
  const body = signedEnvelope(
    { ...agent, keyFingerprint: tester.keyFingerprint },
    restoreTestStatement(agent, backup),
  );
  await expect(verifySubmission(requestOf(body), principalOf(agent))).rejects.toMatchObject({
    code: "statement_mismatch",
    details: { field: "keyid" },
  });
});

test("a refusal names the fault of a statement, and its place", async () => {
  const payload = Buffer.from(
    JSON.stringify({ ...restoreTestStatement(agent, backup, { checks: [] }), extra: 1 }),
  );
  const error = await verifySubmission(requestOf(envelopeOf(agent, payload)), principalOf(agent)).catch(
    (thrown: unknown) => thrown as ApiError,
  );
  expect(error).toMatchObject({ code: "statement_invalid", details: { issues: [{ path: "/extra" }] } });
});

describe("a source that was given to other agents", () => {
  let next: TestAgent;
  beforeEach(async () => {
    next = await world.addAgent(agent.orgId);
    await age("1 hour");
  });

  /** Moves what the records say of the backup into the past. */
  const age = (by: string) =>
    world.pool.query("update backups set created_at = created_at - $2::interval where id = $1", [
      backup.id,
      by,
    ]);

  const give = (request: ConfigureSourceRequest) =>
    world.database
      .transaction()
      .execute((tx) =>
        configureSource(
          tx,
          { orgId: agent.orgId, sourceId: backup.sourceId, actorId: "console" },
          request,
          new Date(),
        ),
      );

  const ask = async () => {
    const source = await findSource(world.database, agent.orgId, backup.sourceId);
    if (source === null) throw new Error("no source");
    return world.database
      .transaction()
      .execute((tx) =>
        queueCommand(tx, { source, kind: "restore_test", backupId: backup.id, issuedBy: "console" }),
      );
  };

  const deliver = () =>
    world.database
      .transaction()
      .execute((tx) => takeForDelivery(tx, tester.id, new Date(), new Date(Date.now() - 180_000)));

  const outcomeOf = async (commandId: string): Promise<unknown> =>
    (await world.pool.query("select outcome from commands where id = $1", [commandId])).rows[0];

  const runUntil = (finished_at: Date) =>
    restoreTestStatement(tester, backup, {
      started_at: new Date(finished_at.getTime() - 60_000).toISOString(),
      finished_at: finished_at.toISOString(),
    });
  const minutes = (n: number) => new Date(Date.now() + n * 60_000);
  const refused = { code: "statement_mismatch", details: { field: "agent_id" } };

  test("takes the late receipts of both that had it, for the time when they had it", async () => {
    const [before, beforeToo] = [minutes(-20), minutes(-10)];
    await give({ agent_id: next.id, test_agent_id: null });
    await submit(tester, runUntil(before));
    await submit(agent, restoreTestStatement(agent, backup, { finished_at: beforeToo.toISOString() }));
    expect(await times()).toMatchObject({ proven_at: beforeToo, last_proven_at: beforeToo });
    await expect(submit(tester, runUntil(minutes(1)))).rejects.toMatchObject(refused);
    expect((await times()).last_proven_at).toEqual(beforeToo);
  });

  test("accepts tests that ended before the last of several changes took the source away, and none of an agent that never had it", async () => {
    await give({ test_agent_id: next.id });
    await give({ test_agent_id: tester.id, agent_id: next.id });
    const between = new Date();
    await give({ test_agent_id: next.id, name: "other" });
    await give({ name: "another" });
    await submit(tester, runUntil(between));
    const third = await world.addAgent(agent.orgId);
    const forged = restoreTestStatement(third, backup, { finished_at: minutes(-10).toISOString() });
    await expect(submit(third, forged)).rejects.toMatchObject(refused);
  });

  test("refuses a test of a backup that came only after the source was given away", async () => {
    await give({ test_agent_id: null });
    await age("-2 hours");
    await expect(submit(tester, runUntil(minutes(-10)))).rejects.toMatchObject(refused);
  });

  test("refuses what comes later than a spool submits it", async () => {
    await give({ test_agent_id: null });
    const earlier = new Date(Date.now() - SUBMISSION_WINDOW_MS - 60_000);
    await world.pool.query("update events set id = $2, created_at = $3 where source_id = $1", [
      backup.sourceId,
      newId("event", earlier.getTime()),
      earlier,
    ]);
    await age("40 days");
    await expect(submit(tester, runUntil(new Date(earlier.getTime() - 60_000)))).rejects.toMatchObject(
      refused,
    );
  });

  test.each(["delivered", "acked"])(
    "takes a test that was asked for and %s, also if it ended afterwards, once",
    async (status) => {
      const { commandId } = await ask();
      expect(await deliver()).toMatchObject([{ id: commandId }]);
      if (status === "acked")
        await world.database.transaction().execute((tx) => setAcked(tx, tester.id, [commandId], new Date()));
      await give({ test_agent_id: null });
      const both = await Promise.allSettled([1, 2].map((n) => submit(tester, runUntil(minutes(n)))));
      const ids = both.flatMap((one) => (one.status === "fulfilled" ? [one.value.id] : []));
      expect(ids).toHaveLength(1);
      expect(await outcomeOf(commandId)).toEqual({ outcome: { receipt_id: ids[0] } });
      expect((await times()).last_proven_at?.getTime()).toBeLessThanOrEqual(Date.now());
      await expect(submit(tester, runUntil(minutes(3)))).rejects.toMatchObject(refused);
    },
  );

  test("does not take a test from before a command for what came of it: that is still to come", async () => {
    const { commandId } = await ask();
    await deliver();
    await world.database.transaction().execute((tx) => setAcked(tx, tester.id, [commandId], new Date()));
    await give({ test_agent_id: null });
    await submit(tester, runUntil(minutes(-10)));
    expect(await outcomeOf(commandId)).toEqual({ outcome: {} });
    const { id } = await submit(tester, runUntil(minutes(1)));
    expect(await outcomeOf(commandId)).toEqual({ outcome: { receipt_id: id } });
    // People read there what the receipt says.
    const command = await findCommand(world.database, agent.orgId, commandId);
    expect(command && commandRecord(command).outcome).toEqual({ receipt_id: id, result: "passed" });
  });

  test("takes nothing for a command that went to the next agent, or that is about another backup", async () => {
    const { commandId } = await ask();
    await give({ test_agent_id: next.id });
    await expect(submit(tester, runUntil(minutes(1)))).rejects.toMatchObject(refused);
    expect(await outcomeOf(commandId)).toEqual({ outcome: {} });
    await give({ test_agent_id: tester.id });
    await world.pool.query("update commands set params = $2 where id = $1", [
      commandId,
      { backup_id: newId("backup") },
    ]);
    await deliver();
    await give({ test_agent_id: next.id });
    await expect(submit(tester, runUntil(minutes(1)))).rejects.toMatchObject(refused);
  });
});

test("the command that asked for a backup names its receipt", async () => {
  const { rows } = await world.pool.query<{ id: string }>(
    `with command as (insert into commands (id, org_id, source_id, agent_id, kind, status, issued_by)
       values ($1, $2, $3, $4, 'backup', 'acked', 'console') returning id)
     update backups set command_id = command.id from command where backups.id = $5 returning command.id`,
    [newId("command"), agent.orgId, backup.sourceId, agent.id, backup.id],
  );
  const { id } = await submit(agent, backupStatement(agent, backup));
  const commands = await world.pool.query("select outcome from commands where id = $1", [rows[0]?.id]);
  expect(commands.rows).toEqual([{ outcome: { receipt_id: id } }]);
});
