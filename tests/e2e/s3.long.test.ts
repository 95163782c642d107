import { randomBytes } from "node:crypto";
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  declareSource,
  registration,
  uploadUrl,
  type BackupRecord,
  type UploadUrl,
} from "./harness/backups.ts";
import { expectError } from "./harness/errors.ts";
import { attachedHost, type Host } from "./harness/host.ts";
import { sha256Hex } from "./harness/merkle.ts";
import { attach, createOrganisation, type Organisation, type WireAgent } from "./harness/organisation.ts";
import { startS3Server, type S3Answer, type S3Server } from "./harness/s3-server.ts";
import { startServer, type Server } from "./harness/server.ts";
import { until } from "./harness/wait.ts";

/** The whole service with its objects on somebody else's S3 server, both over HTTPS. */

const MIB = 1024 ** 2;
const PARTS = {
  ATTESTORE_S3_SINGLE_PUT_LIMIT_BYTES: String(5 * MIB),
  ATTESTORE_S3_PART_BYTES: String(5 * MIB),
};

interface Parts extends UploadUrl {
  parts: { part_number: number; upload_url: string; size_bytes: number }[];
}

let s3: S3Server;
let server: Server;
let org: Organisation;
let agent: WireAgent;
let source: string;

beforeAll(async () => {
  s3 = await startS3Server({ tls: true });
  server = await startServer({ ...s3.environment, ...PARTS });
  org = await createOrganisation(server);
  agent = await attach(org);
  source = await declareSource(agent);
});
afterAll(async () => {
  await server.remove();
  await s3.remove();
});

function put(upload: UploadUrl, body: Uint8Array): Promise<S3Answer> {
  return s3.send({ method: upload.method, url: upload.upload_url, headers: upload.headers, body });
}

const register = (upload: UploadUrl, more: object = {}) =>
  agent.call("POST", "/v1/backups", { ...registration(upload, source), ...more });

async function download(backup: BackupRecord, headers: Record<string, string> = {}): Promise<S3Answer> {
  const answer = await agent.call("POST", `/v1/backups/${backup.id}/download-url`, {});
  expect(answer.status).toBe(200);
  return s3.send({ method: "GET", url: answer.json<{ download_url: string }>().download_url, headers });
}

async function sendParts(upload: Parts, bytes: Uint8Array, except: number[] = []) {
  const sent: { part_number: number; etag: string }[] = [];
  let offset = 0;
  for (const { part_number, upload_url, size_bytes } of upload.parts) {
    const body = bytes.subarray(offset, offset + size_bytes);
    offset += size_bytes;
    if (except.includes(part_number)) continue;
    const answer = await s3.send({ method: "PUT", url: upload_url, body });
    expect(answer.status, answer.body.toString()).toBe(200);
    sent.push({ part_number, etag: answer.headers.etag ?? "" });
  }
  return sent;
}

describe("an upload by one PUT", () => {
  it("makes a backup of the announced bytes, which downloads whole and in ranges", async () => {
    const bytes = randomBytes(5000);
    const upload = await uploadUrl(agent, source, bytes);
    expect(upload.upload_url.startsWith(`${s3.settings.endpoint}/backups/${upload.object_key}?`)).toBe(true);
    expectError(await register(upload), "object_missing");
    expect((await put(upload, bytes)).status).toBe(200);
    const answer = await register(upload);
    expect(answer.status, answer.body.toString()).toBe(201);
    const backup = answer.json<BackupRecord>();
    expect(backup).toMatchObject({ sha256: sha256Hex(bytes), size_bytes: 5000 });
    expect((await download(backup)).body.equals(bytes)).toBe(true);
    const part = await download(backup, { range: "bytes=10-19" });
    expect([part.status, part.body]).toEqual([206, bytes.subarray(10, 20)]);
    expect(existsSync(join(server.data, "objects"))).toBe(false);
  });

  it("is refused with other bytes, another length, another key or another method", async () => {
    const bytes = randomBytes(5000);
    const upload = await uploadUrl(agent, source, bytes);
    const other = await uploadUrl(agent, source, bytes);
    const elsewhere = upload.upload_url.replace(upload.upload_id, other.upload_id);
    const answers = [
      await put(upload, randomBytes(5000)),
      await put(upload, bytes.subarray(1)),
      await put(upload, Buffer.concat([bytes, bytes])),
      await put({ ...upload, headers: {} }, bytes),
      await put({ ...upload, upload_url: elsewhere }, bytes),
      await put({ ...upload, method: "POST" }, bytes),
    ];
    expect(answers.map(({ status }) => status)).toEqual([400, 403, 403, 403, 403, 405]);
    expectError(await register(upload), "object_missing");
    expectError(await register(other), "object_missing");
  });

  it("becomes no backup if other bytes got there without the URL", async () => {
    const bytes = randomBytes(5000);
    const upload = await uploadUrl(agent, source, bytes);
    const replace = (body: Uint8Array) => s3.send({ method: "PUT", key: upload.object_key, body });
    for (const wrong of [randomBytes(5000), randomBytes(4999), Buffer.alloc(0)]) {
      expect((await replace(wrong)).status).toBe(200);
      expectError(await register(upload), "object_mismatch");
    }
    // Stored by somebody who sent no checksum, and read by the service for that.
    expect((await replace(bytes)).status).toBe(200);
    expect((await register(upload)).status).toBe(201);
  });

  it("can be requested again", async () => {
    const bytes = randomBytes(5000);
    const upload = await uploadUrl(agent, source, bytes);
    const request = { source_id: source, sha256: sha256Hex(bytes), size_bytes: bytes.length };
    const again = await agent.call("POST", "/v1/backups/upload-url", {
      ...request,
      upload_id: upload.upload_id,
    });
    expect(again.status, again.body.toString()).toBe(200);
    expect(again.json()).toMatchObject({ upload_id: upload.upload_id, object_key: upload.object_key });
    expect((await put(again.json<UploadUrl>(), bytes)).status).toBe(200);
    expect((await register(upload)).status).toBe(201);
    const renew = (more: object) =>
      agent.call("POST", "/v1/backups/upload-url", { ...request, upload_id: upload.upload_id, ...more });
    expectError(await renew({}), "already_exists");
    expectError(await renew({ size_bytes: 4999 }), "object_mismatch");
    expectError(await renew({ sha256: "ab".repeat(32) }), "object_mismatch");
    const stranger = await attach(await createOrganisation(server));
    const theirs = await declareSource(stranger);
    expectError(
      await stranger.call("POST", "/v1/backups/upload-url", {
        ...request,
        source_id: theirs,
        upload_id: upload.upload_id,
      }),
      "not_found",
    );
  });
});

describe("an upload in parts", () => {
  const bytes = randomBytes(12 * MIB + 7);

  async function begin(): Promise<Parts> {
    const upload = (await uploadUrl(agent, source, bytes)) as Parts;
    expect(upload.parts.map(({ part_number, size_bytes }) => [part_number, size_bytes])).toEqual([
      [1, 5 * MIB],
      [2, 5 * MIB],
      [3, 2 * MIB + 7],
    ]);
    return upload;
  }

  it("makes one backup, even if it is registered twice", async () => {
    const upload = await begin();
    const sent = await sendParts(upload, bytes);
    const answers = await Promise.all([1, 2, 3].map(() => register(upload, { parts: sent })));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409]);
    const made = answers.find(({ status }) => status === 201);
    const backup = made?.json<BackupRecord>() as BackupRecord;
    expect((await download(backup)).body.equals(bytes)).toBe(true);
    const range = await download(backup, { range: `bytes=${5 * MIB - 2}-${5 * MIB + 1}` });
    expect(range.body).toEqual(bytes.subarray(5 * MIB - 2, 5 * MIB + 2));
  });

  it("continues with new URLs of the same upload", async () => {
    const upload = await begin();
    const sent = await sendParts(upload, bytes, [2, 3]);
    const renewed = await agent.call("POST", "/v1/backups/upload-url", {
      source_id: source,
      sha256: sha256Hex(bytes),
      size_bytes: bytes.length,
      upload_id: upload.upload_id,
    });
    expect(renewed.status).toBe(200);
    const rest = await sendParts(renewed.json<Parts>(), bytes, [1]);
    expect((await register(upload, { parts: [...sent, ...rest] })).status).toBe(201);
  });

  it("makes no backup if parts have other bytes or are missing", async () => {
    const flipped = Buffer.from(bytes);
    flipped.writeUInt8(flipped.readUInt8(7 * MIB) ^ 1, 7 * MIB);
    const wrong = await begin();
    const parts = await sendParts(wrong, flipped);
    expectError(await register(wrong), "invalid_request");
    expectError(await register(wrong, { parts }), "object_mismatch");
    const short = await begin();
    expectError(await register(short, { parts: await sendParts(short, bytes, [3]) }), "object_mismatch");
    const none = await begin();
    const invented = [{ part_number: 1, etag: '"0123"' }];
    expectError(await register(none, { parts: invented }), "object_missing");
  });
});

describe("the agent", () => {
  let host: Host;
  let data: string;
  beforeAll(async () => {
    host = await attachedHost(org, { NODE_EXTRA_CA_CERTS: s3.environment["NODE_EXTRA_CA_CERTS"] });
    data = mkdtempSync(join(tmpdir(), "attestore-e2e-data-"));
    // Random bytes, which no compression brings under the limit.
    writeFileSync(join(data, "large.bin"), randomBytes(17 * MIB));
    host.addSources(`  large:
    engine: files
    path: ${data}
`);
  });
  afterAll(() => {
    host.remove();
    rmSync(data, { recursive: true, force: true });
  });

  it("backs up a source over the limit in parts, and proves that it restores", async () => {
    const backup = await host.run("backup", "--source", "large");
    expect(backup.code, backup.stdout + backup.stderr).toBe(0);
    const test = await host.run("restore-test", "--source", "large");
    expect(test.code, test.stdout + test.stderr).toBe(0);
    expect(host.receipts().map(({ statement }) => statement.predicateType)).toEqual([
      "https://attestore.dev/backup/v1",
      "https://attestore.dev/restore-test/v1",
    ]);
    const objects = await s3.send({ method: "GET", query: { "list-type": "2" } });
    expect(objects.body.toString(), "an object of four parts").toMatch(/<ETag>[^<]*-4[^<]*<\/ETag>/);
    expect(readdirSync(join(host.root, "blobs"))).toEqual([]);
  });

  it("continues the same upload after it was killed in the middle of it", async () => {
    appendFileSync(join(host.root, "config.yaml"), "upload: { max_rate: 5MB }\n");
    const uploads = async () => {
      const listed = await s3.send({ method: "GET", query: { uploads: "" } });
      return [...listed.body.toString().matchAll(/<UploadId>([^<]+)</g)].map(([, id]) => id);
    };
    const before = await uploads();
    const running = host.start("backup", "--source", "large");
    const progress = await until(
      "a part is sent",
      () => readdirSync(join(host.root, "blobs")).find((name) => name.endsWith(".parts.json")),
      60,
    );
    running.child.kill("SIGKILL");
    await running.finished;
    const file = join(host.root, "blobs", progress);
    const { upload_id, parts } = JSON.parse(readFileSync(file, "utf8")) as {
      upload_id: string;
      parts: { part_number: number; etag: string }[];
    };
    expect(parts.length).toBeGreaterThan(0);
    expect((await uploads()).length).toBe(before.length + 1);
    const sync = await host.run("sync");
    expect(sync.code, sync.stdout + sync.stderr).toBe(0);
    expect(readdirSync(join(host.root, "blobs"))).toEqual([]);
    // The upload that was begun is the one that was completed.
    expect((await uploads()).length).toBe(before.length);
    const newest = host.receipts().at(-1);
    expect(newest?.statement.predicateType).toBe("https://attestore.dev/backup/v1");
    const objects = await s3.send({ method: "GET", query: { "list-type": "2", prefix: "org_" } });
    expect(objects.body.toString()).toContain(`${upload_id}.age`);
  });
});

describe("object lock", () => {
  it("is on every registered backup, and on nothing else", async () => {
    const locking = await startS3Server({ tls: true, objectLock: true });
    const own = await startServer({ ...locking.environment, ATTESTORE_S3_OBJECT_LOCK_DAYS: "30" });
    try {
      const wire = await attach(await createOrganisation(own));
      const sourceId = await declareSource(wire);
      const bytes = randomBytes(5000);
      const send = async (body: Uint8Array): Promise<UploadUrl> => {
        const upload = await uploadUrl(wire, sourceId, bytes);
        const sent = await locking.send({ method: "PUT", key: upload.object_key, body });
        expect(sent.status).toBe(200);
        return upload;
      };
      const [right, wrong] = [await send(bytes), await send(randomBytes(5000))];
      const answers = [right, wrong].map((upload) =>
        wire.call("POST", "/v1/backups", registration(upload, sourceId)),
      );
      expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([201, 422]);
      const lockOf = async ({ object_key: key }: UploadUrl): Promise<string> =>
        (await locking.send({ method: "GET", key, query: { retention: "" } })).body.toString();
      expect(await lockOf(right)).toContain("<Mode>GOVERNANCE</Mode>");
      expect(await lockOf(wrong)).not.toContain("<Mode>");
    } finally {
      await own.remove();
      await locking.remove();
    }
  });

  it("stops the service's start with a message if the bucket does not support it", async () => {
    const started = startServer({ ...s3.environment, ATTESTORE_S3_OBJECT_LOCK_DAYS: "30" });
    await expect(started).rejects.toThrow(/exit code 2[^]*bucket backups has no object lock/);
  });
});
