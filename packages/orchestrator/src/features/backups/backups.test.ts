import { newId } from "@attestore/contract";
import { createHash, randomBytes } from "node:crypto";
import { rm, truncate, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Answer } from "../../../test/client.ts";
import {
  heartbeat,
  startTestService,
  type TestAgent,
  type TestOrg,
  type TestService,
  type Upload,
} from "../../../test/service.ts";
import { abortAbandonedUploads } from "./abandoned-uploads.ts";

let service: TestService;
let org: TestOrg;
let agent: TestAgent;
let colleague: TestAgent;
let stranger: TestAgent;
let sourceId: string;
beforeAll(async () => {
  service = await startTestService({ parts: { singlePutLimitBytes: 5000, partBytes: 4000 } });
  org = await service.addOrg();
  agent = await service.attach(org);
  colleague = await service.attach(org);
  stranger = await service.attach(await service.addOrg());
  sourceId = await declare(agent, "orders");
});
afterAll(() => service.close());

const bytes = randomBytes(3000);

async function declare(by: TestAgent, slug: string): Promise<string> {
  const answer = await by.post("/v1/heartbeat", heartbeat({ sources: [{ slug, engine: "postgresql" }] }));
  return (answer.json["sources"] as { id: string }[])[0]?.id ?? "";
}

const askUpload = (by: TestAgent, more: object = {}): Promise<Answer> =>
  by.post("/v1/backups/upload-url", {
    source_id: sourceId,
    sha256: createHash("sha256").update(bytes).digest("hex"),
    size_bytes: bytes.length,
    ...more,
  });

const register = (upload: Upload, more: object = {}, by = agent): Promise<Answer> =>
  by.post("/v1/backups", { ...service.registration(upload, sourceId), ...more });

const brief = ({ status, json }: Answer): unknown[] => [status, json["error"]];

describe("an upload URL", () => {
  test("is for one key of the organisation, the source and the upload", async () => {
    const answer = await askUpload(agent);
    expect(answer.status).toBe(201);
    expect(answer.json["object_key"]).toBe(`${org.id}/${sourceId}/${answer.json["upload_id"] as string}.age`);
    const lifetime_s = (Date.parse(answer.json["expires_at"] as string) - Date.now()) / 1000;
    expect(lifetime_s).toBeGreaterThan(14.9 * 60);
    expect(lifetime_s).toBeLessThanOrEqual(15 * 60);
  });

  test("is refused for a source that is removed, unknown, of another organisation or of another agent", async () => {
    const removed = await declare(agent, "removed");
    await service.pool.query("update sources set removed_at = now() where id = $1", [removed]);
    expect(brief(await askUpload(agent, { source_id: removed }))).toEqual([404, "not_found"]);
    expect(brief(await askUpload(agent, { source_id: newId("source") }))).toEqual([404, "not_found"]);
    expect(brief(await askUpload(stranger))).toEqual([404, "not_found"]);
    expect(brief(await askUpload(colleague))).toEqual([403, "forbidden"]);
  });
});

describe("registering a backup", () => {
  test("gives its record, and tells the source and the command", async () => {
    const upload = await service.upload(agent, sourceId, bytes);
    const command = await service.queueCommand(sourceId, "backup");
    const created_at = new Date(Date.now() - 86_400_000).toISOString();
    const answer = await register(upload, { created_at, command_id: command });
    expect(answer.status, answer.body.toString()).toBe(201);
    expect(answer.json).toMatchObject({
      created_at,
      org_id: org.id,
      source_id: sourceId,
      agent_id: agent.id,
      size_bytes: bytes.length,
      status: "available",
      proven_at: null,
      expires_at: null,
    });
    const { rows } = await service.pool.query(
      "select outcome, last_backup_at from commands join sources on sources.id = source_id where commands.id = $1",
      [command],
    );
    expect(rows).toEqual([
      { outcome: { backup_id: answer.json["id"] }, last_backup_at: new Date(created_at) },
    ]);
  });

  test("never moves a source's last backup back", async () => {
    const source = await declare(agent, "out-of-order");
    const daysAgo = (days: number): Date => new Date(Date.now() - days * 86_400_000);
    const newest = daysAgo(10);
    for (const day of [newest, daysAgo(12)]) {
      const upload = await service.upload(agent, source, bytes);
      const made = await register(upload, { source_id: source, created_at: day.toISOString() });
      expect(made.status).toBe(201);
    }
    const { rows } = await service.pool.query("select last_backup_at from sources where id = $1", [source]);
    expect(rows).toEqual([{ last_backup_at: newest }]);
  });

  test("by an agent whose clock is ahead makes no source look backed up later than now", async () => {
    const source = await declare(agent, "ahead");
    const upload = await service.upload(agent, source, bytes);
    const made = await register(upload, { source_id: source, created_at: "2099-01-01T00:00:00.000Z" });
    expect(made.status).toBe(201);
    const { rows } = await service.pool.query(
      "select last_backup_at between now() - interval '1 minute' and now() as is_now from sources where id = $1",
      [source],
    );
    expect(rows).toEqual([{ is_now: true }]);
  });

  test("checks the stored object: none, another size and other bytes are refused", async () => {
    const asked = (await askUpload(agent)).json as unknown as Upload;
    expect(brief(await register(asked))).toEqual([422, "object_missing"]);
    const upload = await service.upload(agent, sourceId, bytes);
    const file = service.objectFile(upload.object_key);
    await truncate(file, 100);
    expect(brief(await register(upload))).toEqual([422, "object_mismatch"]);
    await rm(file);
    expect(brief(await register(upload))).toEqual([422, "object_missing"]);
    // The same length: only the digest tells. The service was restarted meanwhile, so it has to
    // read the bytes.
    await writeFile(file, randomBytes(bytes.length));
    const replica = await service.listen();
    const answer = await replica.call({
      method: "POST",
      path: "/v1/backups",
      token: agent.token,
      json: service.registration(upload, sourceId),
    });
    expect(brief(answer)).toEqual([422, "object_mismatch"]);
    await writeFile(file, bytes);
    const repaired = await replica.call({
      method: "POST",
      path: "/v1/backups",
      token: agent.token,
      json: service.registration(upload, sourceId),
    });
    expect(repaired.status).toBe(201);
    await replica.close();
  });

  test("refuses another digest or size than the upload was announced with", async () => {
    const upload = await service.upload(agent, sourceId, bytes);
    expect(brief(await register(upload, { sha256: "ab".repeat(32) }))).toEqual([422, "object_mismatch"]);
    expect(brief(await register(upload, { size_bytes: 1 }))).toEqual([422, "object_mismatch"]);
    expect((await register(upload, { size_bytes: bytes.length })).status).toBe(201);
  });

  test("refuses uploads, sources and commands that are not the agent's", async () => {
    const upload = await service.upload(agent, sourceId, bytes);
    const second = await declare(agent, "second");
    const strangers = await declare(stranger, "strangers");
    const restoreTest = await service.queueCommand(sourceId, "restore_test");
    const others = await service.queueCommand(second, "backup");
    expect(brief(await register(upload, { upload_id: newId("upload") }))).toEqual([404, "not_found"]);
    expect(brief(await register(upload, { source_id: second }))).toEqual([400, "invalid_request"]);
    expect(brief(await register(upload, { source_id: strangers }))).toEqual([404, "not_found"]);
    expect(brief(await register(upload, {}, colleague))).toEqual([403, "forbidden"]);
    expect(brief(await register(upload, {}, stranger))).toEqual([404, "not_found"]);
    for (const command_id of [newId("command"), restoreTest, others])
      expect(brief(await register(upload, { command_id }))).toEqual([400, "invalid_request"]);
    expect(brief(await register(upload, { parts: [{ part_number: 1, etag: "x" }] }))).toEqual([
      400,
      "invalid_request",
    ]);
    expect((await register(upload)).status).toBe(201);
  });

  test("makes one backup of one upload, and returns the same one to a repeated call", async () => {
    const upload = await service.upload(agent, sourceId, bytes);
    const answers = await Promise.all(Array.from({ length: 8 }, () => register(upload)));
    const made = answers.filter(({ status }) => status === 201);
    expect(made).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expect(brief(answer)).toEqual([409, "already_exists"]);
      expect(answer.json["details"]).toEqual({ backup_id: made[0]?.json["id"] });
    }
  });

  test.each([
    "2026-02-30T00:00:00.000Z",
    "2026-13-01T00:00:00.000Z",
    "2025-02-29T12:00:00.000Z",
    "2026-01-01T00:00:00Z",
    "0000-01-01T00:00:00.000Z",
  ])("refuses an invalid time: %s", async (created_at) => {
    const upload = await service.upload(agent, sourceId, bytes);
    const answer = await register(upload, { created_at });
    expect(brief(answer)).toEqual([400, "invalid_request"]);
    expect(answer.json["details"]).toMatchObject({ issues: [{ path: "/created_at" }] });
  });

  test.each([
    ["0001-01-01T00:00:00.000Z", 30],
    ["9999-12-31T23:59:59.999Z", 0],
  ])("clamps a time to the 30 days before the service's clock: %s", async (created_at, days) => {
    const answer = await register(await service.upload(agent, sourceId, bytes), { created_at });
    expect(answer.status).toBe(201);
    const age_ms = Date.now() - Date.parse(answer.json["created_at"] as string);
    expect(age_ms).toBeGreaterThanOrEqual(days * 86_400_000);
    expect(age_ms).toBeLessThan(days * 86_400_000 + 60_000);
  });

  test("keeps the time of a backup that waited on its host while the service was away", async () => {
    const created_at = new Date(Date.now() - 29 * 86_400_000).toISOString();
    const answer = await register(await service.upload(agent, sourceId, bytes), { created_at });
    expect([answer.status, answer.json["created_at"]]).toEqual([201, created_at]);
  });
});

describe("an upload over the limit of one PUT", () => {
  const large = randomBytes(10_001);
  const announced = { sha256: createHash("sha256").update(large).digest("hex"), size_bytes: large.length };
  type Parts = Upload & { parts: { part_number: number; upload_url: string; size_bytes: number }[] };
  type Sent = { part_number: number; etag: string }[];

  async function begin(): Promise<Parts> {
    const answer = await askUpload(agent, announced);
    expect(answer.status, answer.body.toString()).toBe(201);
    return answer.json as unknown as Parts;
  }

  async function sendParts(upload: Parts, numbers = [1, 2, 3], content = large): Promise<Sent> {
    const sent: Sent = [];
    for (const part_number of numbers) {
      const part = upload.parts.find((one) => one.part_number === part_number);
      const path = part?.upload_url.slice(service.url.length) ?? "";
      const body = content.subarray((part_number - 1) * 4000, part_number * 4000);
      const answer = await service.call({ method: "PUT", path, body });
      expect(answer.status, answer.body.toString()).toBe(200);
      sent.push({ part_number, etag: answer.headers.etag ?? "" });
    }
    return sent;
  }

  const rowsAbout = async (upload: Upload): Promise<unknown> =>
    (await service.pool.query("select id from backups where upload_id = $1", [upload.upload_id])).rows;

  const unfinished = async (): Promise<string[]> =>
    (await Array.fromAsync(service.objects.multipart.list())).map(({ key }) => key);

  test("is answered with parts of one key, from the first byte over it", async () => {
    const upload = await begin();
    expect(upload).toEqual({
      upload_id: expect.stringMatching(/^upl_/),
      object_key: `${org.id}/${sourceId}/${upload.upload_id}.age`,
      upload_url: upload.parts[0]?.upload_url,
      method: "PUT",
      headers: {},
      expires_at: expect.any(String),
      parts: [4000, 4000, 2001].map((size_bytes, index) => ({
        part_number: index + 1,
        upload_url: expect.stringContaining(`${service.url}/objects/${upload.object_key}?`),
        size_bytes,
      })),
    });
    expect(new Set(upload.parts.map(({ upload_url }) => upload_url)).size).toBe(3);
    expect((await askUpload(agent, { size_bytes: 5000 })).json).not.toHaveProperty("parts");
    expect((await askUpload(agent, { size_bytes: 5001 })).json["parts"]).toHaveLength(2);
  });

  test("becomes one backup, that is downloaded whole and in ranges, and its parts are gone", async () => {
    const upload = await begin();
    const parts = [...(await sendParts(upload, [3, 1])), ...(await sendParts(upload, [2, 3])).slice(0, 1)];
    expect(brief(await register(upload))).toEqual([400, "invalid_request"]);
    const answers = await Promise.all([1, 2, 3].map(() => register(upload, { parts })));
    const made = answers.filter(({ status }) => status === 201);
    expect(made).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(2);
    const id = made[0]?.json["id"] as string;
    expect(made[0]?.json).toMatchObject(announced);
    const get = (await agent.post(`/v1/backups/${id}/download-url`)).json["download_url"] as string;
    const path = get.slice(service.url.length);
    expect((await service.call({ method: "GET", path })).body.equals(large)).toBe(true);
    const range = await service.call({ method: "GET", path, headers: { range: "bytes=3998-4001" } });
    expect([range.status, range.body]).toEqual([206, large.subarray(3998, 4002)]);
    expect(await unfinished()).not.toContain(upload.object_key);
    const late = upload.parts[0]?.upload_url.slice(service.url.length) ?? "";
    expect(brief(await service.call({ method: "PUT", path: late, body: large.subarray(0, 4000) }))).toEqual([
      404,
      "not_found",
    ]);
    expect(brief(await askUpload(agent, { ...announced, upload_id: upload.upload_id }))).toEqual([
      409,
      "already_exists",
    ]);
  });

  test("is not a backup, and stays as it is, while a part is missing; continues with fresh URLs", async () => {
    const upload = await begin();
    const sent = await sendParts(upload, [1, 3]);
    const invented = [...sent, { part_number: 2, etag: sent[0]?.etag ?? "" }];
    for (const parts of [sent, sent.slice(0, 1), invented])
      expect(brief(await register(upload, { parts }))).toEqual([422, "object_missing"]);
    expect([await rowsAbout(upload), await service.objects.head(upload.object_key)]).toEqual([[], null]);
    const renewed = await askUpload(agent, { ...announced, upload_id: upload.upload_id });
    expect(renewed.status).toBe(200);
    const rest = await sendParts(renewed.json as unknown as Parts, [2]);
    expect((await register(upload, { parts: [...sent, ...rest] })).status).toBe(201);
  });

  test("with a wrong byte is no backup, however often it is registered", async () => {
    const upload = await begin();
    const flipped = Buffer.from(large);
    flipped.writeUInt8(flipped.readUInt8(5000) ^ 1, 5000);
    const parts = await sendParts(upload, [1, 2, 3], flipped);
    for (const _ of [1, 2])
      expect(brief(await register(upload, { parts }))).toEqual([422, "object_mismatch"]);
    expect(await rowsAbout(upload)).toEqual([]);
  });

  test("is registered by the next call if the service was killed before it recorded it", async () => {
    const upload = await begin();
    const parts = await sendParts(upload);
    const [{ uploadId } = { uploadId: "" }] = (
      await Array.fromAsync(service.objects.multipart.list())
    ).filter(({ key }) => key === upload.object_key);
    const named = parts.map(({ part_number, etag }) => ({ partNumber: part_number, etag }));
    expect(await service.objects.multipart.complete({ key: upload.object_key, uploadId, parts: named })).toBe(
      true,
    );
    const replica = await service.listen();
    const answer = await replica.call({
      method: "POST",
      path: "/v1/backups",
      token: agent.token,
      json: { ...service.registration(upload, sourceId), parts },
    });
    expect(answer.status, answer.body.toString()).toBe(201);
    await replica.close();
  });

  test("that is abandoned is removed a day after its URLs were requested", async () => {
    const [abandoned, renewed] = [await begin(), await begin()];
    const sent = await sendParts(abandoned, [1]);
    const day = 24 * 3_600_000;
    const now = new Date(Date.now() + day + 3_600_000);
    await service.pool.query("update uploads set expires_at = $2 where id = $1", [renewed.upload_id, now]);
    const options = { db: service.byClock, objects: service.objects, logger: service.logger };
    expect(await abortAbandonedUploads(options, new Date(now.getTime() - day))).toBe(0);
    expect(await abortAbandonedUploads(options, now)).toBeGreaterThan(0);
    expect(await unfinished()).toEqual([renewed.object_key]);
    expect(brief(await register(abandoned, { parts: sent }))).toEqual([422, "object_missing"]);
    // The agent that comes back is told to begin anew.
    expect(brief(await askUpload(agent, { ...announced, upload_id: abandoned.upload_id }))).toEqual([
      404,
      "not_found",
    ]);
  });
});

describe("a download URL", () => {
  let backupId: string;
  beforeAll(async () => {
    backupId = (await register(await service.upload(agent, sourceId, bytes))).json["id"] as string;
  });

  const ask = (by: TestAgent, id = backupId): Promise<Answer> => by.post(`/v1/backups/${id}/download-url`);

  test("gives the bytes, whole and in ranges, and says what they are", async () => {
    const answer = await ask(agent);
    expect(answer.status).toBe(200);
    expect(answer.json["backup"]).toMatchObject({
      id: backupId,
      source_id: sourceId,
      sha256: createHash("sha256").update(bytes).digest("hex"),
      size_bytes: bytes.length,
    });
    const path = (answer.json["download_url"] as string).slice(service.url.length);
    expect((await service.call({ method: "GET", path })).body.equals(bytes)).toBe(true);
    const part = await service.call({ method: "GET", path, headers: { range: "bytes=10-19" } });
    expect([part.status, part.body]).toEqual([206, bytes.subarray(10, 20)]);
  });

  test("is for the agent that makes the source's backups and the one that tests them, and for nobody else", async () => {
    expect(brief(await ask(colleague))).toEqual([403, "forbidden"]);
    await service.pool.query("update sources set test_agent_id = $2 where id = $1", [sourceId, colleague.id]);
    expect((await ask(colleague)).status).toBe(200);
    expect(brief(await ask(stranger))).toEqual([404, "not_found"]);
    expect(brief(await ask(agent, newId("backup")))).toEqual([404, "not_found"]);
    expect(brief(await ask(agent, "nonsense"))).toEqual([404, "not_found"]);
  });

  test("is there for a source that was removed", async () => {
    const source = await declare(agent, "kept");
    const upload = await service.upload(agent, source, bytes);
    const made = await register(upload, { source_id: source });
    await service.pool.query("update sources set removed_at = now() where id = $1", [source]);
    expect((await ask(agent, made.json["id"] as string)).status).toBe(200);
  });

  test("is refused for a backup that has expired", async () => {
    const made = await register(await service.upload(agent, sourceId, bytes));
    await service.pool.query("update backups set status = 'expired' where id = $1", [made.json["id"]]);
    expect(brief(await ask(agent, made.json["id"] as string))).toEqual([409, "conflict"]);
  });
});
