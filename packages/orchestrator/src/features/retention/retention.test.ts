import { newId } from "@attestore/contract";
import { mkdir, utimes, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { recordBackup } from "../../../test/recorded.ts";
import {
  startTestService,
  type TestAgent,
  type TestOrg,
  type TestService,
  type TestUser,
} from "../../../test/service.ts";
import type { ObjectStore } from "../../platform/objects/object-store.ts";
import { expireBackups } from "./expire-backups.ts";
import { removeExpiredObjects } from "./remove-objects.ts";
import { putBack, readQuarantine } from "./quarantine.ts";
import { sweepObjects } from "./sweep-objects.ts";

const DAY_MS = 86_400_000;
const DELAY_S = 7 * 86_400;
let service: TestService;
let org: TestOrg;
let agent: TestAgent;
let owner: TestUser;
const now = new Date();
const { signal } = new AbortController();
beforeAll(async () => {
  service = await startTestService();
  org = await service.addOrg();
  agent = await service.attach(org);
  owner = await service.signIn(org);
});
afterAll(() => service.close());

const deps = () => ({
  db: service.byClock,
  objects: service.objects,
  logger: service.logger,
  retentionDelay_s: DELAY_S,
  quarantineDays: 30,
});
/** Announces, and removes when the delay is over. */
async function expire(): Promise<void> {
  await expireBackups(deps(), { now, signal });
  await expireBackups(deps(), { now: new Date(now.getTime() + DELAY_S * 1000), signal });
}
const inDays = (days: number): Date => new Date(now.getTime() + days * DAY_MS);
const path = (id: string, call: string): string => `/api/orgs/${org.id}/sources/${id}/${call}`;

async function source(retention: object | null): Promise<string> {
  const slug = newId("source");
  const answer = await owner.post(`/api/orgs/${org.id}/sources`, {
    slug,
    engine: "sqlite",
    agent_id: agent.id,
  });
  const id = answer.json["id"] as string;
  expect((await owner.post(path(id, "configure"), { retention })).status).toBe(200);
  return id;
}

/** One a day, the newest first. */
async function backups(sourceId: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let age = 0; age < count; age += 1) {
    const at = new Date(now.getTime() - age * DAY_MS);
    ids.push(await recordBackup(service.database, { orgId: org.id, sourceId, agentId: agent.id, at }));
  }
  return ids;
}

async function available(sourceId: string): Promise<string[]> {
  const rows = await service.database
    .selectFrom("backups")
    .select("id")
    .where("source_id", "=", sourceId)
    .where("status", "=", "available")
    .orderBy("id", "desc")
    .execute();
  return rows.map(({ id }) => id);
}

async function uploaded(sourceId: string, text: string): Promise<{ id: string; key: string }> {
  const upload = await service.upload(agent, sourceId, Buffer.from(text));
  const answer = await agent.post("/v1/backups", service.registration(upload, sourceId));
  expect(answer.status).toBe(201);
  return { id: answer.json["id"] as string, key: upload.object_key };
}

const age = (key: string, days: number): Promise<void> => {
  const at = new Date(now.getTime() - days * DAY_MS);
  return utimes(service.objectFile(key), at, at);
};

describe("expiring", () => {
  test("does what the preview says, logs each, and nothing more the next time", async () => {
    const id = await source({ keep_last: 2 });
    const ids = await backups(id, 6);
    await service.pool.query("update backups set proven_at = now() where id = any($1)", [[ids[3], ids[5]]]);
    const preview = (await owner.get(path(id, "retention-preview"))).json;
    expect(preview).toMatchObject({
      retention: { keep_last: 2 },
      timezone: "UTC",
      keep_count: 3,
      remove_count: 3,
      remove_bytes: 3000,
      next_cursor: null,
    });
    const items = preview["items"] as { backup_id: string; keep: boolean; reasons: object[] }[];
    expect(items.map(({ backup_id }) => backup_id)).toEqual(ids);
    expect(items[3]?.reasons).toEqual([{ rule: "newest_proven" }]);
    expect(await available(id)).toEqual(ids);
    await Promise.all(Array.from({ length: 4 }, () => expire()));
    const kept = items.filter(({ keep }) => keep).map(({ backup_id }) => backup_id);
    expect(await available(id)).toEqual(kept);
    const events = await owner.get(`/api/orgs/${org.id}/events?kind=backup_expired&source_id=${id}`);
    const named = (events.json["items"] as { backup_id: string }[]).map(({ backup_id }) => backup_id);
    expect(named.toSorted()).toEqual(ids.filter((known) => !kept.includes(known)).toSorted());
    await expire();
    expect(await available(id)).toEqual(kept);
  });

  test("spares the last clean one, until a newer one is clean", async () => {
    const id = await source({ keep_last: 1 });
    const ids = await backups(id, 5);
    const mark = (index: number, set: string) =>
      service.pool.query(`update backups set ${set} where id = $1`, [ids[index]]);
    for (const index of [0, 1, 2, 3, 4]) await mark(index, "proven_at = now()");
    for (const index of [0, 1]) await mark(index, "suspicious_at = proven_at");
    // It was suspicious, and is no more; one that failed since is not clean.
    await mark(3, "suspicious_at = proven_at - interval '1 day'");
    await mark(2, "failed_at = proven_at + interval '1 day'");
    const preview = (await owner.get(path(id, "retention-preview"))).json;
    const items = preview["items"] as { reasons: object[] }[];
    expect(items[3]?.reasons).toEqual([{ rule: "newest_clean" }]);
    const listed = await owner.get(`/api/orgs/${org.id}/backups?source_id=${id}`);
    const shown = listed.json["items"] as { suspicious_at?: string; last_clean?: true }[];
    expect(shown.map(({ last_clean }) => last_clean === true)).toEqual([false, false, false, true, false]);
    const timeline = (await owner.get(path(id, "timeline"))).json["items"] as {
      backup?: { id: string; last_clean?: true };
    }[];
    expect(timeline.flatMap(({ backup }) => (backup?.last_clean === true ? [backup.id] : []))).toEqual([
      ids[3],
    ]);
    expect(shown.map(({ suspicious_at }) => suspicious_at !== undefined)).toEqual([
      true,
      true,
      false,
      true,
      false,
    ]);
    await expire();
    expect(await available(id)).toEqual([ids[0], ids[3]]);
    await mark(0, "proven_at = suspicious_at + interval '1 minute'");
    await expire();
    expect(await available(id)).toEqual([ids[0]]);
    const after = (await owner.get(`/api/orgs/${org.id}/backups?source_id=${id}&status=available`)).json;
    expect(after["items"]).not.toMatchObject([{ last_clean: true }]);
  });

  test("of more than fit into one transaction takes several", async () => {
    const id = await source({ keep_last: 1 });
    const ids = await backups(id, 130);
    await expire();
    expect(await available(id)).toEqual(ids.slice(0, 1));
  });

  test("tries rules out that are not set, and pages", async () => {
    const id = await source(null);
    const ids = await backups(id, 5);
    const first = await owner.get(path(id, "retention-preview?keep_daily=2&limit=3"));
    expect(first.json).toMatchObject({ retention: { keep_daily: 2 }, keep_count: 2, remove_count: 3 });
    const rest = await owner.get(
      path(id, `retention-preview?keep_daily=2&limit=3&cursor=${first.json["next_cursor"] as string}`),
    );
    expect((rest.json["items"] as { backup_id: string }[]).map(({ backup_id }) => backup_id)).toEqual(
      ids.slice(3),
    );
    expect((await owner.get(path(id, "retention-preview?keep_daily=-1"))).status).toBe(400);
    const one = await owner.get(path(id, `retention-preview?keep_last=1&backup_id=${ids[3] ?? ""}`));
    expect(one.json).toMatchObject({ keep_count: 1, next_cursor: null });
    expect(one.json["items"]).toMatchObject([{ backup_id: ids[3], keep: false, reasons: [] }]);
  });

  test("never touches a source without rules, or one that was removed", async () => {
    for (const retention of [null, {}, { keep_last: 0 }]) {
      const id = await source(retention);
      const ids = await backups(id, 3);
      await expire();
      expect(await available(id)).toEqual(ids);
    }
    const removed = await source({ keep_last: 1 });
    const ids = await backups(removed, 3);
    await owner.delete(`/api/orgs/${org.id}/sources/${removed}`);
    await expire();
    expect(await available(removed)).toEqual(ids);
  });

  test("spares a command's backup until the command has ended, even if both happen at once", async () => {
    const id = await source({ keep_last: 1 });
    const ids = await backups(id, 8);
    const [triggers] = await Promise.all([
      Promise.all(
        ids.slice(1).map((backup_id) => owner.post(path(id, "trigger"), { kind: "restore_test", backup_id })),
      ),
      expire(),
    ]);
    const asked = ids.slice(1).filter((_, index) => triggers[index]?.status === 202);
    expect(triggers.every(({ status }) => status === 202 || status === 404)).toBe(true);
    expect(await available(id)).toEqual([ids[0], ...asked]);
    await service.pool.query(`update commands set outcome = '{"event_id":"x"}' where source_id = $1`, [id]);
    await expire();
    expect(await available(id)).toEqual([ids[0]]);
  });
});

describe("objects", () => {
  test("go after the row says so; a crash or a store that fails in between is made up for", async () => {
    const id = await source({ keep_last: 1 });
    const [old, kept] = [await uploaded(id, "old"), await uploaded(id, "kept")];
    await removeExpiredObjects(deps(), { now, signal });
    expect(await service.objects.head(old.key)).not.toBeNull();
    await expire();
    expect(await service.objects.head(old.key)).not.toBeNull();
    const failing = Object.create(service.objects, {
      remove: { value: () => Promise.reject(new Error("the store is away")) },
    }) as ObjectStore;
    const at = new Date(now.getTime() + DELAY_S * 1000);
    await removeExpiredObjects({ ...deps(), objects: failing }, { now: at, signal });
    // As if killed after the store removed it and before the row was written.
    await service.objects.remove(old.key);
    await removeExpiredObjects(deps(), { now: new Date(at.getTime() + 3_600_000), signal });
    const row = await service.database
      .selectFrom("backups")
      .select(["status", "object_removed_at"])
      .where("id", "=", old.id)
      .executeTakeFirst();
    expect(row).toMatchObject({ status: "expired", object_removed_at: expect.any(Date) });
    expect(await service.objects.head(kept.key)).not.toBeNull();
  });

  test("that a store's lock holds are tried again the next day", async () => {
    const id = await source({ keep_last: 1 });
    const locked = await uploaded(id, "locked");
    await uploaded(id, "newer");
    const at = new Date(now.getTime() + DELAY_S * 1000);
    await expire();
    const asked: string[] = [];
    const holding = Object.create(service.objects, {
      remove: {
        value: (key: string) => {
          asked.push(key);
          return Promise.resolve("retained");
        },
      },
    }) as ObjectStore;
    for (const hours of [0, 1, 25])
      await removeExpiredObjects(
        { ...deps(), objects: holding },
        { now: new Date(at.getTime() + hours * 3_600_000), signal },
      );
    expect(asked.filter((key) => key === locked.key)).toHaveLength(2);
  });

  test("without a record go into quarantine after a day, and later away; objects that are registered, or may still be, stay", async () => {
    const id = await source(null);
    const registered = await uploaded(id, "registered");
    const abandoned = await service.upload(agent, id, Buffer.from("abandoned"));
    const fresh = await service.upload(agent, id, Buffer.from("fresh"));
    const renewed = await service.upload(agent, id, Buffer.from("renewed"));
    for (const key of [registered.key, abandoned.object_key, renewed.object_key]) await age(key, 2);
    await service.pool.query("update uploads set expires_at = now() - interval '2 days' where id = any($1)", [
      [abandoned.upload_id, fresh.upload_id],
    ]);
    expect(await sweepObjects(deps(), { now, signal })).toMatchObject({
      taken: 1,
      removed: 0,
      quarantined: 1,
    });
    expect(await sweepObjects(deps(), { now: inDays(29), signal })).toMatchObject({ removed: 0 });
    expect(await service.objects.head(abandoned.object_key)).not.toBeNull();
    await age(fresh.object_key, -29);
    await service.pool.query("update uploads set expires_at = now() + interval '40 days' where id = $1", [
      renewed.upload_id,
    ]);
    expect(await sweepObjects(deps(), { now: inDays(31), signal })).toMatchObject({ removed: 1 });
    expect(await service.objects.head(abandoned.object_key)).toBeNull();
    for (const key of [registered.key, fresh.object_key, renewed.object_key])
      expect(await service.objects.head(key), key).not.toBeNull();
    // The agent that comes back is told to upload anew.
    expect((await agent.post("/v1/backups", service.registration(abandoned, id))).status).toBe(404);
    expect(await sweepObjects(deps(), { now, signal })).toMatchObject({ taken: 0, removed: 0 });
  });

  test("that are put back, or that the database knows again, are not removed", async () => {
    const id = await source(null);
    const kept = await service.upload(agent, id, Buffer.from("kept"));
    const late = await service.upload(agent, id, Buffer.from("late"));
    for (const { object_key } of [kept, late]) await age(object_key, 2);
    await service.pool.query(
      "update uploads set expires_at = now() - interval '2 days' where source_id = $1",
      [id],
    );
    await sweepObjects(deps(), { now, signal });
    const marks = await readQuarantine(service.objects.notes);
    await putBack(service.objects.notes, marks.get(kept.object_key)!);
    expect((await agent.post("/v1/backups", service.registration(late, id))).status).toBe(201);
    await sweepObjects(deps(), { now: inDays(31), signal });
    for (const { object_key } of [kept, late])
      expect(await service.objects.head(object_key), object_key).not.toBeNull();
    const left = await readQuarantine(service.objects.notes);
    expect(left.get(kept.object_key)?.isKept).toBe(true);
    expect(left.has(late.object_key)).toBe(false);
  });

  test("are left alone where they are too many, until somebody says so", async () => {
    const id = await source(null);
    const files = Array.from({ length: 11 }, (_, n) => `${org.id}/${id}/upl_unknown${n}.age`);
    for (const key of files) {
      await mkdir(dirname(service.objectFile(key)), { recursive: true });
      await writeFile(service.objectFile(key), "of another database");
      await age(key, 40);
    }
    const stopped = await sweepObjects(deps(), { now, signal });
    expect(stopped).toMatchObject({ stopped: true, taken: 11 });
    const marked = async (): Promise<number> => {
      const marks = await readQuarantine(service.objects.notes);
      return files.filter((key) => marks.has(key)).length;
    };
    expect(await marked()).toBe(0);
    expect(service.logger.lines.some(({ message }) => message.includes("the sweep was stopped"))).toBe(true);
    expect((await service.call({ method: "GET", path: "/metrics" })).body.toString()).toContain(
      "attestore_objects_sweep_stopped 1",
    );
    await sweepObjects(deps(), { now, signal }, { confirmed: true });
    expect(await marked()).toBe(11);
    for (const key of files) await service.objects.remove(key);
    await sweepObjects(deps(), { now, signal });
    expect(await marked()).toBe(0);
  });

  test("that are registered while they are removed are there afterwards, or were never registered", async () => {
    const id = await source(null);
    const uploads = await Promise.all(
      Array.from({ length: 10 }, (_, n) => service.upload(agent, id, Buffer.from(`raced ${n}`))),
    );
    for (const { object_key } of uploads) await age(object_key, 2);
    await service.pool.query(
      "update uploads set expires_at = now() - interval '2 days' where source_id = $1",
      [id],
    );
    await sweepObjects(deps(), { now, signal });
    const [answers] = await Promise.all([
      Promise.all(uploads.map((upload) => agent.post("/v1/backups", service.registration(upload, id)))),
      sweepObjects(deps(), { now: inDays(31), signal }),
    ]);
    for (const [index, { status, json }] of answers.entries()) {
      const stored = await service.objects.head(uploads[index]?.object_key ?? "");
      if (status === 201) expect(stored).not.toBeNull();
      else {
        // The object goes first, then the upload that knows of it.
        expect(["object_missing", "not_found"]).toContain(json["error"]);
        expect(stored).toBeNull();
      }
    }
  });
});
