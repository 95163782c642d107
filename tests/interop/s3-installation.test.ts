import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newId } from "@attestore/contract";
import { afterAll, beforeAll, expect, it } from "vitest";
import { guardDeletions } from "../../packages/orchestrator/src/features/installation/guarded-store.ts";
import { Installation } from "../../packages/orchestrator/src/features/installation/installation.ts";
import { sweepObjects } from "../../packages/orchestrator/src/features/retention/sweep-objects.ts";
import { SignedHeads } from "../../packages/orchestrator/src/log/checkpoints/signed-heads.ts";
import { LOG_HOST, openLogWorld, type LogWorld } from "../../packages/orchestrator/test/log/log-world.ts";
import { submitPlain } from "../../packages/orchestrator/test/log/submit.ts";
import { silentLogger } from "../../packages/orchestrator/src/platform/logging/logger.ts";
import { S3Store } from "../../packages/orchestrator/src/platform/objects/s3-store.ts";
import { startS3Server, type S3Server } from "../e2e/harness/s3-server.ts";

/** A bucket with versions, and services with the right database and with a wrong one. */

const DAY_MS = 86_400_000;
let s3: S3Server;
let right: LogWorld;
let wrong: LogWorld;
let objects: S3Store;
let directory: string;
let files = 0;
const opened: SignedHeads[] = [];
beforeAll(async () => {
  [s3, right, wrong] = await Promise.all([
    startS3Server({ objectLock: true }),
    openLogWorld(),
    openLogWorld(),
  ]);
  objects = new S3Store({ ...s3.settings, log: silentLogger });
  directory = await mkdtemp(join(tmpdir(), "installation-"));
});
afterAll(async () => {
  for (const signed of opened) await signed.close();
  await Promise.all([right.close(), wrong.close()]);
  await s3.remove();
  await rm(directory, { recursive: true });
});

/** A process of the service, with a disk of its own. */
async function start(world: LogWorld) {
  const signed = await SignedHeads.open(join(directory, String((files += 1))));
  opened.push(signed);
  const replica = world.addReplica({}, world.connection, signed);
  const { signer } = replica;
  const { pool, database: db } = world;
  const installation = new Installation({ db, pool, objects, signed, signer, logger: silentLogger });
  const guarded = guardDeletions(objects, () => installation.requireDeletable());
  const deps = { db, objects: guarded, logger: silentLogger, quarantineDays: 30 };
  const sweep = (days: number) =>
    sweepObjects(deps, { now: new Date(Date.now() + days * DAY_MS), signal: new AbortController().signal });
  return { ...replica, signed, installation, guarded, sweep };
}

it("a bucket's objects are safe from a service with another database, and from a set-back one's log on any replica", async () => {
  const [one, other] = [await start(right), await start(right)];
  expect(await one.installation.check()).toEqual({ is: "paired" });
  expect(await other.installation.check()).toEqual({ is: "paired" });
  const keys = Array.from({ length: 3 }, () => `${newId("org")}/${newId("source")}/${newId("upload")}.age`);
  for (const key of keys) expect((await s3.send({ method: "PUT", key, body: "x" })).status).toBe(200);
  const [key = ""] = keys;
  const uploadId = await objects.multipart.create({ key });

  const stranger = await start(wrong);
  expect(await stranger.installation.check()).toMatchObject({ is: "held", reason: "database_unnamed" });
  await expect(stranger.guarded.remove(key)).rejects.toMatchObject({ code: "unavailable" });
  await expect(stranger.guarded.multipart.abort({ key, uploadId })).rejects.toMatchObject({
    code: "unavailable",
  });
  // It sweeps nevertheless, as a program with a defect might: not even then does an object go.
  await stranger.sweep(2);
  expect(await stranger.sweep(40)).toMatchObject({ removed: 0 });
  for (const each of keys) expect(await objects.head(each)).not.toBeNull();

  // One replica signs, and tells the other through the bucket, before the database loses it.
  const agent = await right.addAgent(await right.addOrg());
  await submitPlain(one, agent);
  expect(await one.installation.check()).toEqual({ is: "paired" });
  const origin = `${LOG_HOST}/${agent.orgId}`;
  await one.signed.record({ origin, size: 2, rootHash: new Uint8Array(32).fill(7) });
  await one.installation.check();
  expect(await other.installation.check()).toEqual({ is: "paired" });
  expect(other.installation.state.setBack).toEqual([agent.orgId]);
  await expect(submitPlain(other, agent)).rejects.toMatchObject({ code: "head_regressed" });

  // Of the marker, which was written several times, one version is kept.
  const versions = await s3.send({
    method: "GET",
    query: { versions: "", prefix: "attestore/installation.json" },
  });
  expect(versions.body.toString().match(/<Version>/g)).toHaveLength(1);

  // The right service's own sweep goes through quarantine, which the stranger's notes began here.
  expect(await one.sweep(72)).toMatchObject({ removed: 3, stopped: false });
  expect(await objects.head(key)).toBeNull();
});
