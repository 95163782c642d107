/** What the service records of a receipt that it takes. */
import { newId, ReceiptAccepted } from "@attestore/contract";
import { Value } from "typebox/value";
import { expect, test } from "vitest";
import type { TestAgent } from "../../../test/log/log-world.ts";
import {
  agent,
  backup,
  replica,
  submit,
  tester,
  times,
  useReceiptsWorld,
  world,
} from "../../../test/log/receipts-world.ts";
import {
  backupStatement,
  envelopeOf,
  restoreTestStatement,
  signedEnvelope,
} from "../../../test/log/signed-receipt.ts";
import { placed, submitReceipt } from "../../../test/log/submit.ts";
import { verifyEntryInclusion } from "../../../test/log/verify-inclusion.ts";
import { inclusionAnswer } from "../submissions/inclusion-answer.ts";

useReceiptsWorld();

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
