import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as httpRequest,
} from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fastify, type FastifyInstance } from "fastify";
import { afterEach, beforeEach } from "vitest";
import { freePort } from "../../../tests/e2e/harness/free-port.ts";
import { ApiError } from "../src/platform/errors/api-error.ts";
import { DiskStore } from "../src/platform/objects/disk-store.ts";
import { objectRoutes } from "../src/platform/objects/object-routes.ts";

export const KEY = "org_1/src_1/upl_1.age";
export const HMAC_KEY = randomBytes(32);
export const PART_BYTES = 100_000;

export let directory: string;
let app: FastifyInstance;
export let store: DiskStore;
let port: number;

/** Of a file whose tests call a disk store over HTTP: a new one for each test. */
export function useServedDiskStore(): void {
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "objects-"));
    port = await freePort();
    store = newStore();
    await store.prepare();
    app = fastify({ forceCloseConnections: true, bodyLimit: 16 });
    app.setErrorHandler((error, _request, reply) =>
      error instanceof ApiError
        ? reply.code(error.status).send({ error: error.code, message: error.message })
        : reply.code(500).send({ error: "internal", message: String(error) }),
    );
    await app.register(objectRoutes(store));
    await app.listen({ host: "127.0.0.1", port });
  });
  afterEach(async () => {
    await app.close();
    await rm(directory, { recursive: true });
  });
}

/** The store as a service that is started on the directory has it. */
export function newStore(): DiskStore {
  return new DiskStore({
    directory,
    publicUrl: `http://127.0.0.1:${port}`,
    hmacKey: HMAC_KEY,
    partBytes: PART_BYTES,
  });
}

export { freePort };

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export function begin(method: string, url: string, headers: Record<string, string> = {}): ClientRequest {
  // The path as it is, without what URL would tidy up.
  return httpRequest({
    host: "127.0.0.1",
    port,
    method,
    path: url.replace(/^http:\/\/[^/]*/, ""),
    headers,
    agent: false,
  });
}

export async function answerTo(sent: ClientRequest): Promise<Answer> {
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) };
}

export function send(
  method: string,
  url: string,
  body?: Uint8Array,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const sent = begin(method, url, headers);
  sent.end(body);
  return answerTo(sent);
}

export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

export async function putUrl(bytes: Uint8Array, key = KEY): Promise<string> {
  return (
    await store.presignPut({ key, sizeBytes: bytes.length, sha256: sha256(bytes), expiresInSeconds: 60 })
  ).url;
}

export async function getUrl(key = KEY): Promise<string> {
  return (await store.presignGet({ key, expiresInSeconds: 60 })).url;
}

export const errorOf = (answer: Answer): unknown =>
  (JSON.parse(answer.body.toString()) as { error: unknown }).error;
export const incoming = (): Promise<string[]> => readdir(join(directory, ".incoming"));
