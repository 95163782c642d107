import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  hashFromHex,
  leafHash,
  parseLeaf,
  requireNoFork,
  verifyConsistency,
  verifyGenerations,
  verifyLostHead,
} from "@attestore/proof";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { appendInTransaction } from "../events/append-in-transaction.ts";
import type { Head } from "../checkpoints/checkpoint-signer.ts";
import { fsck } from "../fsck/fsck.ts";
import { readBeginnings, readLostHeads } from "../heads/generations.ts";
import { readHeadOfSize, readNewestCheckpoint } from "../heads/heads.ts";
import { readInclusion } from "../heads/inclusion.ts";
import { logOrigin, logVerifier } from "../checkpoints/log-keys.ts";
import { readConsistencyProof } from "../tree/log-reader.ts";
import { findCutLogs } from "./lost-heads.ts";
import { findMissingHeads } from "../heads/missing-heads.ts";
import { stopLog, stopSetBackLogs } from "../heads/stop-set-back-logs.ts";
import { nameLostHead } from "./name-lost-heads.ts";
import { beginNextGeneration, type Recovered } from "./recover-log.ts";
import { SignedHeads } from "../checkpoints/signed-heads.ts";
import { createWitness } from "../witnesses/witness.ts";
import { silentLogger } from "../../platform/logging/logger.ts";
import { withSession, type SqlSession } from "../../platform/database/sql-session.ts";
import { openLogWorld, type LogWorld, type Replica, type TestAgent } from "../../../test/log/log-world.ts";
import { setBack } from "../../../test/log/set-back.ts";
import { submitPlain } from "../../../test/log/submit.ts";

let world: LogWorld;
let directory: string;
let agent: TestAgent;
let signed: SignedHeads;
let replica: Replica;
beforeAll(async () => {
  world = await openLogWorld();
  directory = await mkdtemp(join(tmpdir(), "recover-log-"));
});
afterAll(async () => {
  await world.close();
  await rm(directory, { recursive: true });
});
beforeEach(async () => {
  agent = await world.addAgent(await world.addOrg());
  signed = await SignedHeads.open(join(directory, agent.orgId));
  replica = world.addReplica({}, world.connection, signed);
  return () => signed.close();
});

const grow = async (count: number): Promise<void> => {
  for (let n = 0; n < count; n += 1) await submitPlain(replica, agent);
};
const inSession = <T>(use: (session: SqlSession) => Promise<T>): Promise<T> => withSession(world.pool, use);
const first = (): string => logOrigin(replica.signer.identity.host, agent.orgId);
const key = () => logVerifier(replica.signer.identity, first());

/** The log has `size` entries, and then grows by `more`, which are lost. */
async function lose(size: number, more: number): Promise<Head[]> {
  await grow(size);
  const heads: Head[] = [];
  await setBack(world.pool, agent.orgId, async () => {
    for (let n = 0; n < more; n += 1) {
      await grow(1);
      heads.push(replica.signer.newestOf(await presentOrigin())!);
    }
  });
  await stopSetBackLogs(world.pool, heads.slice(-1));
  return heads;
}

async function presentOrigin(): Promise<string> {
  const { rows } = await world.pool.query<{ origin: string }>("select origin from logs where org_id = $1", [
    agent.orgId,
  ]);
  return rows[0]!.origin;
}

async function recover(because = "the standby lacked entries"): Promise<Recovered> {
  const cut = (await findCutLogs(world.pool, new Map())).find(({ orgId }) => orgId === agent.orgId);
  const { rows } = await world.pool.query<{ size: number; root: Buffer }>(
    "select tree_size as size, root_hash as root from logs where org_id = $1",
    [agent.orgId],
  );
  const lost = (cut?.lost ?? []).map(({ root, ...head }) => ({ ...head, rootHash: hashFromHex(root) }));
  const { size, root: rootHash } = rows[0]!;
  return world.database
    .transaction()
    .execute((tx) =>
      beginNextGeneration(tx, { orgId: agent.orgId, left: { size, rootHash }, lost, by: "alice", because }),
    );
}

const beginnings = async (origin: string) =>
  inSession((session) => readBeginnings(session, replica.signer, agent.orgId, origin));

async function lostLater() {
  return inSession(async (session) => {
    const head = await readNewestCheckpoint(session, replica.signer, agent.orgId);
    return readLostHeads(session, replica.signer, agent.orgId, head, null);
  });
}

async function findings(): Promise<string[]> {
  const found: string[] = [];
  await fsck({
    pool: world.pool,
    files: null,
    identity: replica.signer.identity,
    kept: new Map([[agent.orgId, signed.newest().map((head) => ({ ...head, where: "signed-heads" }))]]),
    onFinding: ({ orgId, code, message }) => {
      // Plain test entries have no rows of their own.
      if (orgId === agent.orgId && code !== "entry_missing") found.push(`${code}: ${message}`);
    },
  });
  return found;
}

test("a log that lost entries accepts entries again as its next generation, whose first entry names the loss", async () => {
  const heads = await lose(5, 3);
  await expect(submitPlain(replica, agent)).rejects.toMatchObject({ code: "head_regressed" });
  const { origin, generation } = await recover();
  expect({ origin, generation }).toEqual({ origin: `${first()}/2`, generation: 2 });
  const next = await submitPlain(replica, agent);
  expect(next).toMatchObject({ origin, logIndex: 6, treeSize: 7 });
  const [rollback] = await verifyGenerations(await beginnings(origin), key(), 2);
  expect(rollback).toMatchObject({ size: 5, ended: first(), by: "alice" });
  const newest = heads.at(-1)!;
  expect(rollback?.lost).toEqual([newest]);
  expect(await findings()).toEqual([]);
  expect(await findMissingHeads(world.pool, [heads[0]!])).toHaveLength(1);
  // A restart finds nothing that stops the log, though signed-heads has the lost head.
  expect((await stopSetBackLogs(world.pool, signed.newest())).setBack).not.toContain(agent.orgId);
  await grow(2);
});

test("the remaining entries stay provable under the first name, and later ones under the second", async () => {
  await grow(2);
  const [before, last] = await Promise.all(
    [1, 2].map((size) => inSession((s) => readHeadOfSize(s, agent.orgId, size))),
  );
  await lose(1, 2);
  await recover();
  await grow(1);
  const of = (logIndex: number, treeSize: number) =>
    inSession((session) =>
      readInclusion(session, replica.signer, { orgId: agent.orgId, logIndex, treeSize }),
    );
  expect((await of(0, 1)).checkpoint.startsWith(`${first()}\n1\n`)).toBe(true);
  expect((await of(1, 3)).checkpoint.startsWith(`${first()}\n3\n`)).toBe(true);
  expect((await of(1, 4)).checkpoint.startsWith(`${first()}/2\n4\n`)).toBe(true);
  expect((await of(1, 5)).checkpoint.startsWith(`${first()}/2\n5\n`)).toBe(true);
  const now = await inSession((session) => readNewestCheckpoint(session, replica.signer, agent.orgId));
  const hashes = await inSession((session) => readConsistencyProof(session, agent.orgId, 1, now));
  verifyConsistency({
    from: 1n,
    to: BigInt(now.size),
    fromRoot: before!.rootHash,
    toRoot: now.rootHash,
    hashes,
  });
  expect(last?.origin).toBe(first());
});

test("two who recover one log at once begin one generation, and the second is refused", async () => {
  await lose(2, 2);
  const results = await Promise.allSettled([recover(), recover()]);
  expect(results.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  const refusal = results.find((result) => result.status === "rejected");
  expect(refusal?.reason).toMatchObject({ name: "RecoveryRefused" });
  expect(await presentOrigin()).toBe(`${first()}/2`);
  expect(await findings()).toEqual([]);
});

test("a crash before the commit leaves the log read-only as it was", async () => {
  await lose(2, 1);
  const crashed = world.database.transaction().execute(async (tx) => {
    const { rows } = await world.pool.query<{ root_hash: Buffer }>(
      "select root_hash from logs where org_id = $1",
      [agent.orgId],
    );
    await beginNextGeneration(tx, {
      orgId: agent.orgId,
      left: { size: 2, rootHash: rows[0]!.root_hash },
      lost: [],
      by: "alice",
      because: "test",
    });
    throw new Error("killed");
  });
  await expect(crashed).rejects.toThrow("killed");
  await expect(submitPlain(replica, agent)).rejects.toMatchObject({ code: "head_regressed" });
  expect(await presentOrigin()).toBe(first());
  await recover();
  expect((await submitPlain(replica, agent)).origin).toBe(`${first()}/2`);
});

test("a healthy log cannot be recovered", async () => {
  await grow(3);
  await expect(recover()).rejects.toThrow("nothing to recover");
  expect((await submitPlain(replica, agent)).origin).toBe(first());
});

test("a log that went on with other entries, or whose lost heads contradict each other, is refused", async () => {
  await lose(3, 2);
  const fork: Head = { ...signed.newest()[0]!, rootHash: leafHash(new Uint8Array(1)) };
  const { rows } = await world.pool.query<{ root_hash: Buffer }>(
    "select root_hash from logs where org_id = $1",
    [agent.orgId],
  );
  const attempt = (lost: Head[]) =>
    world.database.transaction().execute((tx) =>
      beginNextGeneration(tx, {
        orgId: agent.orgId,
        left: { size: 3, rootHash: rows[0]!.root_hash },
        lost,
        by: "alice",
        because: "test",
      }),
    );
  await expect(attempt([fork])).rejects.toThrow("forked");
  await expect(attempt([{ ...fork, size: 3 }])).rejects.toThrow("continued with other entries");
  await expect(attempt([{ ...fork, origin: `${first()}/2`, size: 9 }])).rejects.toThrow(
    "Restore a newer database",
  );
  await expect(submitPlain(replica, agent)).rejects.toMatchObject({ code: "head_regressed" });
});

test("a head that an agent brings later is named once, and stops nothing", async () => {
  const heads = await lose(4, 3);
  await recover();
  const name = (head: Head) =>
    world.database.transaction().execute((tx) => nameLostHead(tx, agent.orgId, head));
  expect(await name(heads[2]!)).toBe("named");
  expect(await lostLater()).toEqual([]);
  expect(await Promise.all([name(heads[0]!), name(heads[0]!), name(heads[0]!)])).toEqual([
    "named",
    "named",
    "named",
  ]);
  const later = await lostLater();
  const named = await Promise.all(later.map((event) => verifyLostHead(event, key())));
  expect(named).toEqual([heads[0]]);
  requireNoFork(await verifyGenerations(await beginnings(await presentOrigin()), key(), 2), named);
  expect(await findings()).toEqual([]);
  // One with another root is a fork: no event makes it look like a loss.
  const fork = { ...heads[0]!, rootHash: heads[1]!.rootHash };
  expect(await name(fork)).toBe("ended_forked");
  expect(await name({ ...fork, size: 4 })).toBe("ended_forked");
  expect(await lostLater()).toHaveLength(1);
  await inSession((session) => stopLog(session, fork));
  await grow(1);
});

test("an agent's heartbeat names its lost head, with the log's signature alone", async () => {
  const heads = await lose(4, 2);
  // As the agent had it from an answer, before the loss.
  const notes = await Promise.all(heads.map((head) => replica.signer.signGrown(head)));
  await recover();
  const accept = createWitness({ db: world.database, signer: replica.signer, logger: silentLogger });
  const { id, orgId, publicKey, keyFingerprint } = agent;
  await accept({ id, orgId, publicKey, keyFingerprint }, { checkpoint: notes[0]!, cosignature: null });
  expect((await lostLater()).map(({ event }) => event.detail["tree_size"])).toEqual([5]);
  const stranger = await world.addAgent(await world.addOrg());
  await accept({ ...stranger, publicKey: stranger.publicKey }, { checkpoint: notes[1]!, cosignature: null });
  expect(await lostLater()).toHaveLength(1);
  await grow(1);
});

test("a second loss begins the third generation; a database from before the second cannot use its name again", async () => {
  await lose(3, 2);
  await setBack(
    world.pool,
    agent.orgId,
    async () => {
      await recover();
      await grow(2);
    },
    { generations: true },
  );
  const later = replica.signer.newestOf(`${first()}/2`)!;
  await stopSetBackLogs(world.pool, [later]);
  await expect(recover()).rejects.toThrow("Restore a newer database");
  expect(await presentOrigin()).toBe(first());
});

test("a log may be recovered again after a later loss, and each generation has its event", async () => {
  await lose(3, 2);
  await recover();
  await grow(2);
  await lose(1, 2);
  const { origin, generation } = await recover();
  expect(generation).toBe(3);
  expect((await submitPlain(replica, agent)).origin).toBe(origin);
  expect(await verifyGenerations(await beginnings(origin), key(), 3)).toHaveLength(2);
  expect(await findings()).toEqual([]);
});

test("service events continue in the new generation, right after the one that began it", async () => {
  await lose(3, 2);
  const { origin } = await recover();
  await world.database
    .transaction()
    .execute((tx) =>
      appendInTransaction(tx, [
        { orgId: agent.orgId, kind: "agent_silent", actorId: "service", occurredAt: new Date(), detail: {} },
      ]),
    );
  const { leaf, checkpoint } = await inSession((session) =>
    readInclusion(session, replica.signer, { orgId: agent.orgId, logIndex: 3, treeSize: 5 }),
  );
  expect(parseLeaf(leaf).kind).toBe("log_rolled_back");
  expect(checkpoint.startsWith(`${origin}\n`)).toBe(true);
});
