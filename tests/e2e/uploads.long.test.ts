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
  CIPHER,
  declareSource,
  writeEncryptedDump,
  put,
  registration,
  SOURCE_METADATA,
  uploadUrl,
  type BackupRecord,
  type UploadUrl,
} from "./harness/backups.ts";
import { expectError } from "./harness/errors.ts";
import { attachedHost } from "./harness/host.ts";
import { exchange, type Answer } from "./harness/https.ts";
import { sha256Hex } from "./harness/merkle.ts";
import { attach, createOrganisation, type Organisation, type WireAgent } from "./harness/organisation.ts";
import { idOf, TIMESTAMP, unknownId } from "./harness/patterns.ts";
import { startServer, type Server } from "./harness/server.ts";
import { until } from "./harness/wait.ts";

const MIB = 1024 ** 2;
/** The least that the settings take. */
const PARTS = {
  ATTESTORE_S3_SINGLE_PUT_LIMIT_BYTES: String(5 * MIB),
  ATTESTORE_S3_PART_BYTES: String(5 * MIB),
};

let server: Server;
let org: Organisation;
let agent: WireAgent;
let stranger: WireAgent;
let source: string;
let strangersSource: string;

beforeAll(async () => {
  server = await startServer(PARTS);
  org = await createOrganisation(server);
  agent = await attach(org);
  stranger = await attach(await createOrganisation(server));
  source = await declareSource(agent);
  strangersSource = await declareSource(stranger);
});
afterAll(() => server.remove());

const bytes = randomBytes(5000);

const refused = ({ status }: Answer): boolean => status >= 400 && status < 500;

/**
 * That nothing usable lies behind the upload: it cannot be registered, and the same URL still takes
 * the right bytes.
 */
async function expectNothingStored(upload: UploadUrl): Promise<void> {
  expectError(await agent.call("POST", "/v1/backups", registration(upload, source)), "object_missing");
  expect((await put(agent, upload, bytes)).status).toBeLessThan(300);
  expect((await agent.call("POST", "/v1/backups", registration(upload, source))).status).toBe(201);
}

describe("an upload URL", () => {
  it("names one key, valid for 15 minutes", async () => {
    const upload = await uploadUrl(agent, source, bytes);
    expect(upload).toMatchObject({
      upload_id: expect.stringMatching(idOf("upl")),
      object_key: `${agent.orgId}/${source}/${upload.upload_id}.age`,
      upload_url: expect.stringMatching(/^https:\/\//),
      method: "PUT",
      expires_at: expect.stringMatching(TIMESTAMP),
    });
    const lifetime_s = (Date.parse(upload.expires_at) - Date.now()) / 1000;
    expect(lifetime_s).toBeGreaterThan(14.5 * 60);
    expect(lifetime_s).toBeLessThanOrEqual(15 * 60);
    const again = await uploadUrl(agent, source, bytes);
    expect(again.object_key).not.toBe(upload.object_key);
  });

  it("refuses other bytes of the same length", async () => {
    const upload = await uploadUrl(agent, source, bytes);
    const other = Buffer.from(bytes);
    other[2500] = (other[2500] ?? 0) ^ 1;
    expect(refused(await put(agent, upload, other))).toBe(true);
    await expectNothingStored(upload);
  });

  it.each([
    ["shorter", bytes.subarray(0, -1)],
    ["longer", Buffer.concat([bytes, Buffer.of(0)])],
    ["none", Buffer.alloc(0)],
  ])("refuses %s bytes", async (_name, other) => {
    const upload = await uploadUrl(agent, source, bytes);
    const headers = Object.fromEntries(
      Object.entries(upload.headers).filter(([name]) => name.toLowerCase() !== "content-length"),
    );
    expect(refused(await put(agent, { ...upload, headers }, other))).toBe(true);
    await expectNothingStored(upload);
  });

  it("refuses bytes that come with the checksum of other bytes", async () => {
    const upload = await uploadUrl(agent, source, bytes);
    const other = randomBytes(bytes.length);
    const headers = Object.fromEntries(
      Object.entries(upload.headers).map(([name, value]) => [
        name,
        value.includes(Buffer.from(sha256Hex(bytes), "hex").toString("base64"))
          ? Buffer.from(sha256Hex(other), "hex").toString("base64")
          : value.replace(sha256Hex(bytes), sha256Hex(other)),
      ]),
    );
    expect(refused(await put(agent, { ...upload, headers }, other))).toBe(true);
    await expectNothingStored(upload);
  });

  it("refuses a chunked body that is longer", async () => {
    const upload = await uploadUrl(agent, source, bytes);
    const answer = await exchange(server, {
      method: "PUT",
      path: upload.upload_url,
      headers: { "transfer-encoding": "chunked" },
      body: Buffer.concat([bytes, bytes]),
    });
    expect(refused(answer)).toBe(true);
    await expectNothingStored(upload);
  });

  it.each(["POST", "DELETE", "PATCH", "GET"])("refuses %s", async (method) => {
    const upload = await uploadUrl(agent, source, bytes);
    const answer = await exchange(server, {
      method,
      path: upload.upload_url,
      ...(method === "GET" ? {} : { headers: upload.headers, body: bytes }),
    });
    expect(refused(answer)).toBe(true);
    await expectNothingStored(upload);
  });

  it("refuses another key than its own", async () => {
    const upload = await uploadUrl(agent, source, bytes);
    const other = await uploadUrl(agent, source, bytes);
    const url = upload.upload_url.replaceAll(upload.upload_id, other.upload_id);
    expect(url).not.toBe(upload.upload_url);
    expect(refused(await put(agent, { ...upload, upload_url: url }, bytes))).toBe(true);
    await expectNothingStored(upload);
    await expectNothingStored(other);
  });

  it("refuses a key that leads out of the store", async () => {
    const upload = await uploadUrl(agent, source, bytes);
    for (const key of ["../../escape.age", "..%2f..%2fescape.age", "%2e%2e/%2e%2e/escape.age", "a%00b.age"]) {
      const url = new URL(upload.upload_url);
      const path = url.pathname.replace(upload.object_key, key) + url.search;
      const answer = await exchange(server, { method: "PUT", path, headers: upload.headers, body: bytes });
      expect(refused(answer), `${path} → ${answer.status}`).toBe(true);
    }
    await expectNothingStored(upload);
  });

  it("refuses any change of its query", async () => {
    const upload = await uploadUrl(agent, source, bytes);
    const names = [...new Set(new URL(upload.upload_url).searchParams.keys())];
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) {
      for (const change of [
        (value: string) =>
          /\d$/.test(value) ? value.slice(0, -1) + ((Number(value.slice(-1)) + 1) % 10) : `${value}0`,
        (value: string) => `${value.startsWith("a") ? "b" : "a"}${value.slice(1)}`,
        () => "",
      ]) {
        const url = new URL(upload.upload_url);
        const value = url.searchParams.get(name) ?? "";
        url.searchParams.set(name, change(value));
        if (url.href === new URL(upload.upload_url).href) continue;
        const answer = await put(agent, { ...upload, upload_url: url.href }, bytes);
        expect(refused(answer), `${name}=${url.searchParams.get(name)} → ${answer.status}`).toBe(true);
      }
      const without = new URL(upload.upload_url);
      without.searchParams.delete(name);
      expect(refused(await put(agent, { ...upload, upload_url: without.href }, bytes)), name).toBe(true);
    }
    await expectNothingStored(upload);
  });

  it("is issued only for a source of the organisation", async () => {
    const body = { sha256: sha256Hex(bytes), size_bytes: bytes.length };
    for (const source_id of [strangersSource, unknownId("src")]) {
      expectError(await agent.call("POST", "/v1/backups/upload-url", { ...body, source_id }), "not_found");
    }
  });
});

describe("registering a backup", () => {
  it("returns the backup's record", async () => {
    const upload = await uploadUrl(agent, source, bytes);
    await put(agent, upload, bytes);
    const created_at = "2026-11-20T23:59:59.123Z";
    const answer = await agent.call("POST", "/v1/backups", { ...registration(upload, source), created_at });
    expect(answer.status).toBe(201);
    expect(answer.json()).toEqual({
      id: expect.stringMatching(idOf("bkp")),
      created_at,
      org_id: agent.orgId,
      source_id: source,
      agent_id: agent.id,
      sha256: sha256Hex(bytes),
      size_bytes: bytes.length,
      cipher: CIPHER,
      source_metadata: SOURCE_METADATA,
      status: "available",
      proven_at: null,
      expires_at: null,
    });
  });

  it("refuses an upload whose bytes never came", async () => {
    const upload = await uploadUrl(agent, source, bytes);
    expectError(await agent.call("POST", "/v1/backups", registration(upload, source)), "object_missing");
  });

  it("refuses an unknown upload, and one of another source or organisation", async () => {
    const upload = await uploadUrl(agent, source, bytes);
    await put(agent, upload, bytes);
    const body = registration(upload, source);
    expectError(
      await agent.call("POST", "/v1/backups", { ...body, upload_id: unknownId("upl") }),
      "not_found",
    );
    expectError(await stranger.call("POST", "/v1/backups", body), "not_found");
    expectError(
      await stranger.call("POST", "/v1/backups", { ...body, source_id: strangersSource }),
      "not_found",
    );
    const second = await declareSource(agent, "second");
    const answer = await agent.call("POST", "/v1/backups", { ...body, source_id: second });
    expect(refused(answer), answer.body.toString()).toBe(true);
    expect((await agent.call("POST", "/v1/backups", body)).status).toBe(201);
  });

  it("makes one backup of one upload, even if asked twice or at once", async () => {
    const upload = await uploadUrl(agent, source, bytes);
    await put(agent, upload, bytes);
    const body = registration(upload, source);
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => agent.call("POST", "/v1/backups", body)),
    );
    answers.push(await agent.call("POST", "/v1/backups", body));
    const made = answers.filter(({ status }) => status < 300).map((answer) => answer.json<BackupRecord>().id);
    expect(made.length).toBeGreaterThanOrEqual(1);
    expect(new Set(made).size).toBe(1);
    for (const answer of answers.filter(({ status }) => status >= 300)) {
      expectError(answer, "already_exists", "conflict");
    }
  });

  it("keeps a stored object unchanged when its URL is used again", async () => {
    const backup = await (async () => {
      const upload = await uploadUrl(agent, source, bytes);
      await put(agent, upload, bytes);
      const record = (
        await agent.call("POST", "/v1/backups", registration(upload, source))
      ).json<BackupRecord>();
      const again = await put(agent, upload, bytes);
      expect(again.status).toBeLessThan(500);
      expect(refused(await put(agent, upload, randomBytes(bytes.length)))).toBe(true);
      return record;
    })();
    expect((await download(backup)).body.equals(bytes)).toBe(true);
  });

  it("accepts an object of several megabytes", async () => {
    const large = randomBytes(5 * MIB);
    const backup = await writeEncryptedDump(agent, source, large);
    const answer = await download(backup);
    expect(answer.status).toBe(200);
    expect(answer.body.equals(large)).toBe(true);
  });
});

async function downloadUrl(backup: { id: string }): Promise<{ download_url: string; expires_at: string }> {
  const answer = await agent.call("POST", `/v1/backups/${backup.id}/download-url`, {});
  expect(answer.status, answer.body.toString()).toBeLessThan(300);
  return answer.json();
}

async function download(backup: { id: string }, headers: Record<string, string> = {}): Promise<Answer> {
  const { download_url } = await downloadUrl(backup);
  return exchange(server, { method: "GET", path: download_url, headers });
}

describe("a download URL", () => {
  it("gives the ciphertext for 15 minutes, without a credential", async () => {
    const backup = await writeEncryptedDump(agent, source, bytes);
    const url = await downloadUrl(backup);
    expect(url).toMatchObject({
      download_url: expect.stringMatching(/^https:\/\//),
      expires_at: expect.stringMatching(TIMESTAMP),
    });
    const lifetime_s = (Date.parse(url.expires_at) - Date.now()) / 1000;
    expect(lifetime_s).toBeGreaterThan(14.5 * 60);
    expect(lifetime_s).toBeLessThanOrEqual(15 * 60);
    const answer = await exchange(server, { method: "GET", path: url.download_url });
    expect(answer.status).toBe(200);
    expect(answer.body.equals(bytes)).toBe(true);
    expect(answer.headers["content-length"]).toBe(String(bytes.length));
  });

  it("is issued for a request without a body", async () => {
    const backup = await writeEncryptedDump(agent, source, bytes);
    const answer = await agent.call("POST", `/v1/backups/${backup.id}/download-url`);
    expect(answer.status, answer.body.toString()).toBeLessThan(300);
  });

  it.each([
    ["bytes=0-0", 0, 1],
    ["bytes=0-99", 0, 100],
    ["bytes=100-199", 100, 200],
    ["bytes=4900-", 4900, 5000],
    ["bytes=-100", 4900, 5000],
    ["bytes=4990-99999", 4990, 5000],
  ])("answers the range %s", async (range, start, end) => {
    const answer = await download(await writeEncryptedDump(agent, source, bytes), { range });
    expect(answer.status).toBe(206);
    expect(answer.body.equals(bytes.subarray(start, end))).toBe(true);
    expect(answer.headers["content-range"]).toBe(`bytes ${start}-${end - 1}/5000`);
  });

  it.each(["bytes=5000-", "bytes=6000-7000", "bytes=-0"])("cannot answer the range %s", async (range) => {
    const answer = await download(await writeEncryptedDump(agent, source, bytes), { range });
    expect(answer.status).toBe(416);
    expect(answer.headers["content-range"]).toBe("bytes */5000");
  });

  it.each(["bytes=abc", "bytes=9-3", "lines=1-2", "bytes="])(
    "ignores the range %s, as RFC 9110 says",
    async (range) => {
      const answer = await download(await writeEncryptedDump(agent, source, bytes), { range });
      expect([200, 416], String(answer.status)).toContain(answer.status);
      if (answer.status === 200) expect(answer.body.equals(bytes)).toBe(true);
    },
  );

  it("allows no other method, key or time", async () => {
    const backup = await writeEncryptedDump(agent, source, bytes);
    const other = await writeEncryptedDump(agent, source, randomBytes(300));
    const url = (await downloadUrl(backup)).download_url;
    for (const method of ["PUT", "DELETE", "POST"]) {
      const answer = await exchange(server, {
        method,
        path: url,
        body: method === "DELETE" ? undefined : bytes,
      });
      expect(refused(answer), `${method} → ${answer.status}`).toBe(true);
    }
    const otherKey = /\/(upl_[0-9a-z]{26})\.age/.exec((await downloadUrl(other)).download_url)?.[1] ?? "";
    const ownKey = /\/(upl_[0-9a-z]{26})\.age/.exec(url)?.[1] ?? "";
    expect(otherKey).not.toBe("");
    expect(refused(await exchange(server, { method: "GET", path: url.replace(ownKey, otherKey) }))).toBe(
      true,
    );
    for (const name of new URL(url).searchParams.keys()) {
      const changed = new URL(url);
      const value = changed.searchParams.get(name) ?? "";
      changed.searchParams.set(name, `${value}1`);
      expect(refused(await exchange(server, { method: "GET", path: changed.href })), name).toBe(true);
    }
    expect((await exchange(server, { method: "GET", path: url })).body.equals(bytes)).toBe(true);
  });

  it("is not issued for an unknown backup or one of another organisation", async () => {
    const backup = await writeEncryptedDump(agent, source, bytes);
    expectError(await stranger.call("POST", `/v1/backups/${backup.id}/download-url`, {}), "not_found");
    expectError(await agent.call("POST", `/v1/backups/${unknownId("bkp")}/download-url`, {}), "not_found");
    expectError(await agent.call("POST", `/v1/backups/${source}/download-url`, {}), "not_found");
    expectError(await agent.call("POST", "/v1/backups/nonsense/download-url", {}), "not_found");
  });
});

describe("an upload in parts", () => {
  const large = randomBytes(12 * MIB + 7);
  interface Parts extends UploadUrl {
    parts: { part_number: number; upload_url: string; size_bytes: number }[];
  }

  async function sendParts(upload: Parts, numbers: number[]) {
    const sent: { part_number: number; etag: string }[] = [];
    for (const { part_number, upload_url, size_bytes } of upload.parts) {
      if (!numbers.includes(part_number)) continue;
      const start = (part_number - 1) * 5 * MIB;
      const body = large.subarray(start, start + size_bytes);
      const answer = await exchange(server, { method: "PUT", path: upload_url, body });
      expect(answer.status, answer.body.toString()).toBe(200);
      sent.push({ part_number, etag: String(answer.headers.etag) });
    }
    return sent;
  }

  it("becomes one complete backup even if the service is killed between parts and while it registers", async () => {
    const upload = (await uploadUrl(agent, source, large)) as Parts;
    expect(upload.parts.map(({ size_bytes }) => size_bytes)).toEqual([5 * MIB, 5 * MIB, 2 * MIB + 7]);
    const sent = await sendParts(upload, [3, 1]);
    await server.kill();
    await server.start();
    const missing = { ...registration(upload, source), parts: sent };
    expectError(await agent.call("POST", "/v1/backups", missing), "object_missing");
    const parts = [...sent, ...(await sendParts(upload, [2]))];
    const body = { ...registration(upload, source), parts };
    // Whether it is answered or cut off, the same request afterwards finds one backup.
    const underWay = agent.call("POST", "/v1/backups", body).catch((error: unknown) => error);
    const object = join(server.data, "objects", upload.object_key);
    await until("the parts are one object", () => existsSync(object));
    await server.kill();
    await underWay;
    await server.start();
    const answer = await agent.call("POST", "/v1/backups", body);
    const id =
      answer.status === 201
        ? answer.json<BackupRecord>().id
        : answer.json<{ details: { backup_id: string } }>().details.backup_id;
    expect((await download({ id })).body.equals(large)).toBe(true);
    const range = await download({ id }, { range: `bytes=${5 * MIB - 2}-${5 * MIB + 1}` });
    expect([range.status, range.body]).toEqual([206, large.subarray(5 * MIB - 2, 5 * MIB + 2)]);
    expect(readdirSync(join(server.data, "objects", ".multipart"))).toEqual([]);
  });

  it("continues where it was after the service was killed, and its backup restores", async () => {
    const host = await attachedHost(org);
    const data = mkdtempSync(join(tmpdir(), "attestore-e2e-data-"));
    try {
      // Random bytes, which no compression brings under the limit.
      writeFileSync(join(data, "large.bin"), large);
      host.addSources(`  large:\n    engine: files\n    path: ${data}\n`);
      appendFileSync(join(host.root, "config.yaml"), "upload: { max_rate: 5MB }\n");
      const running = host.start("backup", "--source", "large");
      // Read at once: by the time that the service is killed it may be gone.
      const upload_id = await until(
        "a part is sent",
        () => {
          const blobs = join(host.root, "blobs");
          const progress = readdirSync(blobs).find((name) => name.endsWith(".parts.json"));
          if (progress === undefined) return null;
          return (JSON.parse(readFileSync(join(blobs, progress), "utf8")) as { upload_id: string }).upload_id;
        },
        60,
      );
      await server.kill();
      await server.start();
      await running.finished;
      for (const args of [["sync"], ["restore-test", "--source", "large"]]) {
        const done = await host.run(...args);
        expect(done.code, done.stdout + done.stderr).toBe(0);
      }
      // The upload that was begun is the one that was completed.
      const objects = readdirSync(join(server.data, "objects"), { recursive: true }).map(String);
      expect(objects.filter((name) => name.endsWith(`/${upload_id}.age`))).toHaveLength(1);
      expect(readdirSync(join(server.data, "objects", ".multipart"))).toEqual([]);
      expect(readdirSync(join(host.root, "blobs"))).toEqual([]);
    } finally {
      host.remove();
      rmSync(data, { recursive: true, force: true });
    }
  });
});
