import { randomBytes } from "node:crypto";
import { verifyConsistency } from "@attestore/proof";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inclusionAnswer } from "../../features/submissions/inclusion-answer.ts";
import { logErrorAnswer } from "../../features/submissions/log-error-answer.ts";
import { notFound } from "../../platform/errors/api-error.ts";
import { appendInTransaction } from "../events/append-in-transaction.ts";
import type { EntryKind, LogEntry } from "./entry.ts";
import { readConsistencyProof } from "../tree/log-reader.ts";
import type { Inclusion } from "../heads/inclusion.ts";
import { withSession } from "../../platform/database/sql-session.ts";
import { openLogWorld, type LogWorld, type Replica, type TestAgent } from "../../../test/log/log-world.ts";
import { openLossyProxy } from "../../../test/log/lossy-proxy.ts";
import { plainEntries, plainEntry, submissionRecord } from "../../../test/log/plain-entry.ts";
import { restoreTestStatement, signedEnvelope } from "../../../test/log/signed-receipt.ts";
import { placed, submitPlain, submitReceipt } from "../../../test/log/submit.ts";
import { verifyEntryInclusion } from "../../../test/log/verify-inclusion.ts";

let world: LogWorld;
beforeAll(async () => {
  world = await openLogWorld();
});
afterAll(() => world.close());

async function newAgent(): Promise<TestAgent> {
  return world.addAgent(await world.addOrg());
}

/**
 * Indexes without gap, one root a size, every proof, and every head an extension of the one before.
 */
async function requireOneLog(
  replica: Replica,
  orgId: string,
  inclusions: readonly Inclusion[],
): Promise<void> {
  const heads = new Map<bigint, Uint8Array>();
  for (const inclusion of inclusions) {
    const checkpoint = await verifyEntryInclusion(replica.signer.identity, inclusion);
    expect(heads.get(checkpoint.size) ?? checkpoint.rootHash).toEqual(checkpoint.rootHash);
    heads.set(checkpoint.size, checkpoint.rootHash);
  }
  const sizes = [...heads].sort(([a], [b]) => Number(a - b));
  for (const [i, [to, toRoot]] of sizes.entries()) {
    const [from, fromRoot] = sizes[i - 1] ?? [to, toRoot];
    const hashes = await withSession(world.pool, (session) =>
      readConsistencyProof(session, orgId, Number(from), { size: Number(to), origin: orgId }),
    );
    verifyConsistency({ from, to, fromRoot, toRoot, hashes });
  }
}

const indexes = (inclusions: readonly Inclusion[]): number[] =>
  inclusions.map(({ logIndex }) => logIndex).sort((a, b) => a - b);
const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

test("two replicas, many organisations, all at once: no gap, no fork, every proof holds", async () => {
  const replicas = [world.addReplica(), world.addReplica()] as const;
  const agents = await Promise.all(Array.from({ length: 5 }, newAgent));
  const submitted = await Promise.all(
    Array.from({ length: 600 }, async (_, i) => {
      const agent = agents[(i * 7) % agents.length] ?? (await newAgent());
      return { agent, inclusion: await submitPlain(replicas[i % 2 === 0 ? 0 : 1], agent) };
    }),
  );
  for (const agent of agents) {
    const mine = submitted.filter((one) => one.agent === agent).map(({ inclusion }) => inclusion);
    expect(indexes(mine)).toEqual(upTo(mine.length));
    await requireOneLog(replicas[0], agent.orgId, mine);
  }
});

test("an entry that ends its batch has the first head over it to itself", async () => {
  const agent = await newAgent();
  const replica = world.addReplica();
  const submitted = await Promise.all(
    upTo(60).map(async (i) => {
      const endsBatch = i % 7 === 3;
      const entry = plainEntry(agent, { endsBatch });
      const inclusion = placed(
        await replica.sequencer.submit(plainEntries, entry, submissionRecord(agent), 0),
      );
      return { endsBatch, inclusion };
    }),
  );
  await requireOneLog(
    replica,
    agent.orgId,
    submitted.map(({ inclusion }) => inclusion),
  );
  for (const { endsBatch, inclusion } of submitted)
    if (endsBatch) expect(inclusion.treeSize).toBe(inclusion.logIndex + 1);
});

test("a restarted service continues where the log ends", async () => {
  const agent = await newAgent();
  const first = world.addReplica();
  const before = await Promise.all(upTo(10).map(() => submitPlain(first, agent)));
  await first.close();
  const second = world.addReplica();
  const after = await Promise.all(upTo(10).map(() => submitPlain(second, agent)));
  expect(indexes([...before, ...after])).toEqual(upTo(20));
  await requireOneLog(second, agent.orgId, [...before, ...after]);
});

test("entries that the service logs in its own transactions are ordered with the batches", async () => {
  const agent = await newAgent();
  const replica = world.addReplica();
  const event = {
    orgId: agent.orgId,
    kind: "agent_silent",
    actorId: "service",
    occurredAt: new Date(),
    detail: { since: "yesterday" },
  };
  const inTransaction = upTo(20).map(() =>
    world.database.transaction().execute((tx) => appendInTransaction(tx, [event, event])),
  );
  const submitted = await Promise.all(upTo(40).map(() => submitPlain(replica, agent)));
  const events = (await Promise.all(inTransaction)).flat();
  expect(
    indexes([...submitted, ...events.map(({ placed: { logIndex } }) => ({ logIndex }) as Inclusion)]),
  ).toEqual(upTo(80));
  await requireOneLog(replica, agent.orgId, submitted);
});

test("an event whose transaction is rolled back was never in the log", async () => {
  const agent = await newAgent();
  const replica = world.addReplica();
  const event = {
    orgId: agent.orgId,
    kind: "agent_silent",
    actorId: "service",
    occurredAt: new Date(),
    detail: {},
  };
  await expect(
    world.database.transaction().execute(async (tx) => {
      await appendInTransaction(tx, [event]);
      throw new Error("changed our mind");
    }),
  ).rejects.toThrow("changed our mind");
  expect((await submitPlain(replica, agent)).logIndex).toBe(0);
});

test("a repeat under the same Idempotency-Key gets the first answer byte for byte, on any replica, although the log has grown", async () => {
  const agent = await newAgent();
  const [one, other] = [world.addReplica(), world.addReplica()];
  const key = { scope: randomBytes(32), fingerprint: randomBytes(32) };
  const first = await one.sequencer.submit(plainEntries, plainEntry(agent), submissionRecord(agent, key), 0);
  await Promise.all(upTo(5).map(() => submitPlain(other, agent)));
  const again = await other.sequencer.submit(
    plainEntries,
    plainEntry(agent),
    submissionRecord(agent, key),
    0,
  );
  if (first.is !== "placed" || again.is !== "placed") throw new Error("not placed");
  expect([first.replayed, again.replayed]).toEqual([false, true]);
  const bytes = (inclusion: Inclusion) => inclusionAnswer("event_id", inclusion, false).body.toString();
  expect(bytes(again.inclusion)).toBe(bytes(first.inclusion));
  const otherBody = submissionRecord(agent, { ...key, fingerprint: randomBytes(32) });
  await expect(submitPlain(one, agent, otherBody)).rejects.toMatchObject({ code: "idempotency_key_reused" });
});

test("of concurrent submissions under one key, one is logged: this process refuses the others, another replica repeats the answer", async () => {
  const agent = await newAgent();
  const [one, other] = [world.addReplica(), world.addReplica()];
  const key = { scope: randomBytes(32), fingerprint: randomBytes(32) };
  const submit = (replica: Replica) => submitPlain(replica, agent, submissionRecord(agent, key));
  const results = await Promise.allSettled([
    submit(one),
    submit(one),
    submit(other),
    submit(one),
    submit(other),
  ]);
  const answered = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  expect(new Set(answered.map(({ logIndex }) => logIndex))).toEqual(new Set([0]));
  for (const result of results)
    if (result.status === "rejected")
      expect(logErrorAnswer(result.reason) ?? result.reason).toMatchObject({
        code: "idempotency_in_progress",
      });
  expect((await submitPlain(one, agent)).logIndex).toBe(1);
});

test("an Idempotency-Key can be used again after its window", async () => {
  const agent = await newAgent();
  const replica = world.addReplica();
  const key = { scope: randomBytes(32), fingerprint: randomBytes(32) };
  await submitPlain(replica, agent, submissionRecord(agent, key));
  await world.pool.query(
    "update idempotency_keys set expires_at = now() - interval '1 second' where scope_sha256 = $1",
    [key.scope],
  );
  const other = { ...key, fingerprint: randomBytes(32) };
  expect((await submitPlain(replica, agent, submissionRecord(agent, other))).logIndex).toBe(1);
  expect((await submitPlain(replica, agent, submissionRecord(agent, other))).logIndex).toBe(1);
});

test("an envelope submitted several times, at once or later, under different keys and on two replicas, is one receipt", async () => {
  const agent = await newAgent();
  const backup = await world.addBackup(agent);
  const replicas = [world.addReplica(), world.addReplica()];
  const body = signedEnvelope(agent, restoreTestStatement(agent, backup));
  const submit = (replica: Replica) =>
    submitReceipt(
      replica,
      agent,
      body,
      submissionRecord(agent, { scope: randomBytes(32), fingerprint: randomBytes(32) }),
    ).then(placed);
  const all = await Promise.all([...replicas, ...replicas, ...replicas].map(submit));
  all.push(placed(await submitReceipt(replicas[0] ?? world.addReplica(), agent, body)));
  expect(new Set(all.map(({ id }) => id)).size).toBe(1);
  expect(new Set(all.map(({ logIndex }) => logIndex))).toEqual(new Set([0]));
  for (const inclusion of all) await verifyEntryInclusion(world.addReplica().signer.identity, inclusion);
  const { rows } = await world.pool.query("select 1 from receipts where agent_id = $1", [agent.id]);
  expect(rows).toHaveLength(1);
});

test("a revoked agent's submission is refused, however recently it was let in", async () => {
  const agent = await newAgent();
  const replica = world.addReplica();
  await submitPlain(replica, agent);
  await world.pool.query("update agents set status = 'revoked', revoked_at = now() where id = $1", [
    agent.id,
  ]);
  await expect(submitPlain(replica, agent)).rejects.toMatchObject({ reason: "agent_not_active" });
});

test("a refused entry takes no index and delays no other", async () => {
  const agent = await newAgent();
  const replica = world.addReplica();
  const picky: EntryKind<LogEntry> = {
    lookup: () => {
      let n = 0;
      return Promise.resolve(() =>
        n++ % 2 === 0 ? { is: "new" } : { is: "refused", error: notFound("source") },
      );
    },
    insert: () => [],
  };
  const results = await Promise.allSettled(
    upTo(20).map(() => replica.sequencer.submit(picky, plainEntry(agent), submissionRecord(agent), 0)),
  );
  const accepted = results.flatMap((result) => (result.status === "fulfilled" ? [placed(result.value)] : []));
  expect(indexes(accepted)).toEqual(upTo(accepted.length));
  expect(accepted.length).toBeGreaterThan(9);
  expect(accepted.length).toBeLessThan(20);
});

test("an entry that the database refuses fails alone", async () => {
  const agent = await newAgent();
  const replica = world.addReplica();
  const poison = plainEntry(agent);
  const kind: EntryKind<LogEntry> = {
    ...plainEntries,
    insert: (session, entries) =>
      entries.some(({ entry }) => entry === poison)
        ? [session.run({ name: "test_poison", text: "insert into orgs (id) values ('no name')" }, [])]
        : [],
  };
  const submit = (entry: LogEntry) =>
    replica.sequencer.submit(kind, entry, submissionRecord(agent), 0).then(placed);
  const others = upTo(10).map(() => submit(plainEntry(agent)));
  await expect(submit(poison)).rejects.toMatchObject({ code: "23502" });
  expect(indexes(await Promise.all(others))).toEqual(upTo(10));
});

test.each([
  ["before", 0],
  ["after", 1],
] as const)(
  "a connection lost %s the commit is told, and the same submission again finds out",
  async (when, logged) => {
    const proxy = await openLossyProxy(world.connection);
    const agent = await newAgent();
    const backup = await world.addBackup(agent);
    const replica = world.addReplica({}, proxy.connection);
    const body = signedEnvelope(agent, restoreTestStatement(agent, backup));
    const record = submissionRecord(agent, { scope: randomBytes(32), fingerprint: randomBytes(32) });
    proxy.cutAtCommit(when);
    await expect(submitReceipt(replica, agent, body, record)).rejects.toMatchObject({
      reason: "database_away",
    });
    const count = async (): Promise<number> =>
      (await world.pool.query("select 1 from log_leaves where org_id = $1", [agent.orgId])).rows.length;
    // The server may still be at it when the client hears of nothing.
    await expect.poll(count).toBe(logged);
    proxy.cutAtCommit("never");
    const again = await submitReceipt(replica, agent, body, record);
    expect(again).toMatchObject({ is: "placed", replayed: logged === 1 });
    expect(placed(again).logIndex).toBe(0);
    expect(await count()).toBe(1);
    await verifyEntryInclusion(replica.signer.identity, placed(again));
    await replica.close();
    await proxy.close();
  },
);

test("the queue is bounded, and empty after the sequencer has stopped", async () => {
  const agent = await newAgent();
  const replica = world.addReplica({ maxWaiting: 5 });
  const results = await Promise.allSettled(upTo(30).map(() => submitPlain(replica, agent)));
  const refused = results.filter((result) => result.status === "rejected");
  expect(refused.length).toBeGreaterThan(15);
  for (const { reason } of refused) expect(reason).toMatchObject({ reason: "full" });
  await replica.close();
  await expect(submitPlain(replica, agent)).rejects.toMatchObject({ reason: "closed" });
});

test("a log that was set back takes no entries, and delays no other log", async () => {
  const [agent, other] = [await newAgent(), await newAgent()];
  const replica = world.addReplica();
  await submitPlain(replica, agent);
  const { rows } = await world.pool.query<{ tree_size: number; root_hash: Buffer; right_edge: Buffer }>(
    "select tree_size, root_hash, right_edge from logs where org_id = $1",
    [agent.orgId],
  );
  await submitPlain(replica, agent);
  const before = rows[0];
  await world.pool.query(
    "update logs set tree_size = $2, root_hash = $3, right_edge = $4 where org_id = $1",
    [agent.orgId, before?.tree_size, before?.root_hash, before?.right_edge],
  );
  const results = await Promise.allSettled([submitPlain(replica, agent), submitPlain(replica, other)]);
  expect(results).toMatchObject([
    { status: "rejected", reason: { code: "head_regressed" } },
    { status: "fulfilled" },
  ]);
});

test("a log with a damaged right edge takes no entries, and delays no other log", async () => {
  const [agent, other] = [await newAgent(), await newAgent()];
  const replica = world.addReplica();
  await submitPlain(replica, agent);
  await world.pool.query("update logs set right_edge = sha256(right_edge) where org_id = $1", [agent.orgId]);
  const results = await Promise.allSettled([
    submitPlain(world.addReplica(), agent),
    submitPlain(world.addReplica(), other),
  ]);
  expect(results).toMatchObject([
    { status: "rejected", reason: { code: "log_row_damaged" } },
    { status: "fulfilled" },
  ]);
});
