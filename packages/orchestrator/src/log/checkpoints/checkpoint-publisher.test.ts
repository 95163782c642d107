import { openCheckpoint } from "@attestore/proof";
import { afterAll, beforeAll, expect, test } from "vitest";
import { silentLogger } from "../../platform/logging/logger.ts";
import {
  emitHour,
  startCheckpointPublisher,
  type CheckpointPublisherOptions,
} from "./checkpoint-publisher.ts";
import { readNewestCheckpoint } from "../heads/heads.ts";
import { logOrigin, logVerifier, timeVerifier } from "./log-keys.ts";
import { withSession } from "../../platform/database/sql-session.ts";
import { LOG_HOST, openLogWorld, type LogWorld, type Replica } from "../../../test/log/log-world.ts";
import { submitPlain } from "../../../test/log/submit.ts";

let world: LogWorld;
beforeAll(async () => {
  world = await openLogWorld();
});
afterAll(() => world.close());

function options(replica: Replica, signal = new AbortController().signal): CheckpointPublisherOptions {
  return { pool: world.pool, signer: replica.signer, logger: silentLogger, signal };
}

async function published(orgId: string): Promise<{ hour: Date; tree_size: number; checkpoint: string }[]> {
  const { rows } = await world.pool.query<{ hour: Date; tree_size: number; checkpoint: string }>(
    "select hour, tree_size, checkpoint from log_emissions where org_id = $1 order by hour",
    [orgId],
  );
  return rows;
}

test("every log gets one checkpoint an hour, grown or not, however many replicas publish", async () => {
  const orgs = await Promise.all(Array.from({ length: 7 }, () => world.addOrg()));
  const [busy = ""] = orgs;
  const agent = await world.addAgent(busy);
  const replicas = [world.addReplica(), world.addReplica(), world.addReplica()];
  const hours = ["2026-11-21T08:00:00Z", "2026-11-21T09:00:00Z"].map((hour) => new Date(hour));
  for (const hour of hours) {
    await submitPlain(replicas[0] ?? world.addReplica(), agent);
    const done = await Promise.all(replicas.map((replica) => emitHour(options(replica), hour)));
    expect(done).toContain(true);
  }
  for (const orgId of orgs) {
    const emitted = await published(orgId);
    expect(emitted.map(({ hour }) => hour)).toEqual(hours);
    expect(emitted.map(({ tree_size }) => tree_size)).toEqual(orgId === busy ? [1, 2] : [0, 0]);
    const { identity } = world.addReplica().signer;
    const time = timeVerifier(identity);
    for (const { checkpoint, tree_size } of emitted) {
      const opened = await openCheckpoint(checkpoint, logVerifier(identity, logOrigin(LOG_HOST, orgId)), [
        time,
      ]);
      expect(opened.size).toBe(BigInt(tree_size));
      expect(opened.cosignatures).toHaveLength(1);
      expect(opened.cosignatures[0]?.timestamp_s).toBeCloseTo(Date.now() / 1000, -2);
    }
  }
});

test("an interrupted publication resumes with the remaining logs", async () => {
  const replica = world.addReplica();
  const orgs = await Promise.all(Array.from({ length: 3 }, () => world.addOrg()));
  const hour = new Date("2026-11-21T10:00:00Z");
  await emitHour(options(replica), hour);
  const first = await published(orgs[0] ?? "");
  await world.pool.query("delete from log_emissions where hour = $1 and org_id = $2", [hour, orgs[1]]);
  expect(await emitHour(options(replica), hour)).toBe(true);
  expect(await published(orgs[1] ?? "")).toHaveLength(1);
  expect(await published(orgs[0] ?? "")).toEqual(first);
});

test("the newest head carries the time's cosignature until the log grows", async () => {
  const replica = world.addReplica();
  const agent = await world.addAgent(await world.addOrg());
  await submitPlain(replica, agent);
  const newest = () =>
    withSession(world.pool, (session) => readNewestCheckpoint(session, replica.signer, agent.orgId));
  const before = await newest();
  await emitHour(options(replica), new Date("2026-11-21T11:00:00Z"));
  const emitted = await newest();
  expect(emitted.checkpoint).toMatch(/\/time /);
  expect(emitted.checkpoint.startsWith(before.checkpoint)).toBe(true);
  expect(emitted.at.getTime()).toBeGreaterThan(before.at.getTime());
  await submitPlain(replica, agent);
  expect((await newest()).checkpoint).not.toMatch(/\/time /);
});

test("publishing begins at the start and ends with its signal", async () => {
  const orgId = await world.addOrg();
  const ending = new AbortController();
  const job = startCheckpointPublisher(options(world.addReplica(), ending.signal));
  await expect.poll(() => published(orgId)).toHaveLength(1);
  ending.abort();
  expect(job.isStopped()).toBe(true);
});
