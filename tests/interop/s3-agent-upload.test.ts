import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { newId, type UploadUrl, type UploadUrlRequest } from "@attestore/contract";
import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { layoutOf, makeLayout, type Layout } from "../../packages/agent/src/state/layout.ts";
import { openService } from "../../packages/agent/src/service/service.ts";
import { ServiceError } from "../../packages/agent/src/transport/service-error.ts";
import { blobPath, type PendingBackup } from "../../packages/agent/src/journal/pending-backup.ts";
import { uploadBackup } from "../../packages/agent/src/backends/attached/upload-backup.ts";
import { dropProgress, readProgress } from "../../packages/agent/src/journal/upload-progress.ts";
import { prepareUpload, signUpload } from "../../packages/orchestrator/src/features/backups/new-upload.ts";
import { silentLogger } from "../../packages/orchestrator/src/platform/logging/logger.ts";
import { S3Store } from "../../packages/orchestrator/src/platform/objects/s3-store.ts";
import { startS3Server, type S3Server } from "../e2e/harness/s3-server.ts";

/**
 * The agent's side of an upload in parts, against an S3 server behind a line that can be cut and a
 * service that can say no.
 */

const MIB = 1024 ** 2;
const bytes = randomBytes(12 * MIB);
const sha256 = createHash("sha256").update(bytes).digest("hex");
const sourceId = newId("source");
const signal = new AbortController().signal;
const publicCas = getCACertificates("default");

let s3: S3Server;
let line: Server;
/** Bytes that the line still carries to the store before it breaks, once. */
let carries = Number.POSITIVE_INFINITY;
let objects: S3Store;
let layout: Layout;
let calls: UploadUrlRequest[];

beforeAll(async () => {
  s3 = await startS3Server({ tls: true });
  setDefaultCACertificates([...publicCas, s3.certificate ?? ""]);
  const store = new URL(s3.settings.endpoint);
  line = createServer((near) => {
    const far = connect(Number(store.port), "127.0.0.1");
    for (const socket of [near, far]) socket.on("error", () => socket.destroy());
    near.on("close", () => far.destroy());
    far.on("close", () => near.end());
    far.pipe(near);
    near.on("data", (chunk: Buffer) => {
      carries -= chunk.length;
      if (carries > 0) return void far.write(chunk);
      carries = Number.POSITIVE_INFINITY;
      near.destroy();
    });
  }).listen(0, "127.0.0.1");
  await once(line, "listening");
  objects = new S3Store({
    ...s3.settings,
    endpoint: `https://localhost:${(line.address() as AddressInfo).port}`,
    singlePutLimitBytes: 5 * MIB,
    partBytes: 5 * MIB,
    log: silentLogger,
  });
  layout = layoutOf(mkdtempSync(join(tmpdir(), "attestore-upload-")));
  await makeLayout(layout);
  writeFileSync(blobPath(layout, sha256), bytes);
});
afterAll(async () => {
  setDefaultCACertificates(publicCas);
  rmSync(layout.root, { recursive: true });
  line.close();
  await s3.remove();
});
beforeEach(async () => {
  calls = [];
  carries = Number.POSITIVE_INFINITY;
  await dropProgress(layout, sha256);
});

const pending: PendingBackup = {
  v: 1,
  sha256,
  size_bytes: bytes.length,
  source: "orders",
  command_id: null,
  cipher: { name: "age-v1", recipients: ["age1x"] },
  source_metadata: { engine: "files", engine_version: "1", dump_format: "tar", schema_hash: sha256 },
  started_at: new Date().toISOString(),
  finished_at: new Date().toISOString(),
  upload: null,
  registered: null,
};

/** As the service answers, with what it remembers of its uploads. */
type Prepared = Awaited<ReturnType<typeof prepareUpload>>;
let known = new Map<string, Prepared>();

async function answerOf(request: UploadUrlRequest): Promise<UploadUrl> {
  calls.push(request);
  const before = known.get(request.upload_id ?? "");
  if (request.upload_id !== undefined && before === undefined) {
    const refusal = { status: 404, error: "not_found", message: "none", requestId: "req", details: {} };
    throw new ServiceError("refused", "none", { refusal });
  }
  const prepared =
    before === undefined
      ? await prepareUpload(objects, newId("org"), request)
      : await signUpload(objects, {
          id: before.answer.upload_id,
          object_key: before.answer.object_key,
          size_bytes: bytes.length,
          sha256: Buffer.from(sha256, "hex"),
          multipart: before.multipart,
        });
  known.set(prepared.answer.upload_id, prepared);
  return prepared.answer;
}

/** The same parts, with URLs that have run out from this one on. */
async function runOut(answer: UploadUrl, from: number): Promise<UploadUrl> {
  const prepared = known.get(answer.upload_id);
  if (prepared === undefined) throw new Error("no such upload");
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 3_600_000 });
  const expired = await answerOf({
    source_id: sourceId,
    sha256,
    size_bytes: bytes.length,
    upload_id: answer.upload_id,
  }).finally(() => vi.useRealTimers());
  calls.pop();
  const parts = answer.parts?.map((part, at) => (at + 1 < from ? part : (expired.parts?.[at] ?? part)));
  return { ...answer, expires_at: expired.expires_at, ...(parts === undefined ? {} : { parts }) };
}

const client = openService({
  url: new URL("https://localhost:1"),
  pinnedCa: null,
  token: null,
  backoff: { tries: 8, first_ms: 1, longest_ms: 20 },
});

function upload(answers: (request: UploadUrlRequest, call: number) => Promise<UploadUrl>) {
  const service = {
    uploadUrl: (request: UploadUrlRequest) => answers(request, calls.length + 1),
    upload: (part: Parameters<typeof client.upload>[0]) => client.upload(part),
  };
  return uploadBackup({ layout, service }, pending, sourceId, { signal });
}

async function expectWhole(done: Awaited<ReturnType<typeof upload>>): Promise<void> {
  const prepared = known.get(done.id);
  const parts = (done.parts ?? []).map(({ part_number, etag }) => ({ partNumber: part_number, etag }));
  const key = prepared?.answer.object_key ?? "";
  const uploadId = prepared?.multipart?.upload_id ?? "";
  expect(await objects.multipart.complete({ key, uploadId, parts })).toBe(true);
  expect(await objects.hash(key)).toEqual({ sizeBytes: bytes.length, sha256 });
}

it("sends a part again after the connection broke in the middle", async () => {
  carries = 8 * MIB;
  const done = await upload(answerOf);
  expect(carries).toBe(Number.POSITIVE_INFINITY);
  expect(calls).toHaveLength(1);
  await expectWhole(done);
});

it("asks for new URLs of the same upload when they expire, and sends the missing parts", async () => {
  const done = await upload(async (request, call) => {
    const answer = await answerOf(request);
    return call === 1 ? runOut(answer, 2) : call === 2 ? runOut(answer, 3) : answer;
  });
  expect(calls.map(({ upload_id }) => upload_id)).toEqual([undefined, done.id, done.id]);
  await expectWhole(done);
});

it("continues after an interruption, in a process that knows only the files on disk", async () => {
  const first = await upload(async (request, call) => {
    if (call === 2) throw new ServiceError("unreachable", "the service is away");
    return runOut(await answerOf(request), 3);
  }).catch((error: unknown) => error);
  expect(first).toMatchObject({ code: "unreachable" });
  expect((await readProgress(layout, sha256))?.parts.map(({ part_number }) => part_number)).toEqual([1, 2]);
  calls = [];
  // The line carries the last part, and would break under more.
  carries = 3 * MIB;
  const done = await upload(answerOf);
  expect(calls.map(({ upload_id }) => upload_id)).toEqual([done.id]);
  expect(carries).toBeGreaterThan(0);
  expect(carries).toBeLessThan(MIB);
  carries = Number.POSITIVE_INFINITY;
  await expectWhole(done);
});

it("starts again if the store aborted the upload, or if the service no longer knows it", async () => {
  let aborted = "";
  const done = await upload(async (request, call) => {
    const answer = await answerOf(request);
    if (call === 1) return runOut(answer, 2);
    const prepared = known.get(answer.upload_id);
    if (call === 2 && prepared?.multipart) {
      aborted = answer.upload_id;
      await objects.multipart.abort({
        key: answer.object_key,
        uploadId: prepared.multipart.upload_id,
      });
    }
    return answer;
  });
  expect(calls.map(({ upload_id }) => upload_id)).toEqual([undefined, aborted, undefined]);
  expect(done.id).not.toBe(aborted);
  await expectWhole(done);

  known = new Map();
  calls = [];
  const again = await upload(answerOf);
  expect(calls.map(({ upload_id }) => upload_id)).toEqual([done.id, undefined]);
  await expectWhole(again);
});

it("gives up when the store refuses every URL, and keeps the ciphertext", async () => {
  const refused = await upload(async (request) => runOut(await answerOf(request), 1)).catch(
    (error: unknown) => error,
  );
  // Whatever could be read of its answer.
  expect(["object_refused", "unreachable"]).toContain((refused as ServiceError).code);
  expect(String(refused)).not.toMatch(/X-Amz|Signature/);
  expect(calls).toHaveLength(3);
  expect(existsSync(blobPath(layout, sha256))).toBe(true);
});
