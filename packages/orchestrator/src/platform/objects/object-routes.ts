import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { ApiError, notFound } from "../errors/api-error.ts";
import { connectionAuthenticated } from "../http/limits/unauthenticated-connections.ts";
import { parseByteRange } from "./byte-range.ts";
import type { DiskStore } from "./disk-store.ts";
import { isObjectKey } from "./object-key.ts";
import { openPermission } from "./signed-url.ts";
import type { Permission } from "./signed-url.ts";
import { requireRate, takeUploadPlace } from "./upload-limits.ts";

/** An upload or download that moved no byte for this long is over. */
const IDLE_MS = 60_000;
/**
 * How long the rest of a refused upload is read and dropped, so that its sender gets the answer.
 */
const LINGER_MS = 5_000;
const PREFIX = "/objects/";

/**
 * The signed URLs of the disk store: `PUT` of an object or of one part, `GET` with single ranges,
 * `HEAD` on `/objects/<key>`. The URL is the credential. Bodies are streamed: neither Fastify's
 * parsers nor its body limit see them.
 */
export function objectRoutes(
  store: DiskStore,
  /** Only tests set another one. */
  { leastRate }: { leastRate?: Parameters<typeof requireRate>[1] } = {},
): FastifyPluginAsync {
  return async (app: FastifyInstance) => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", (_request, _payload, done) => done(null));
    app.put("/objects/*", (request, reply) => put({ store, leastRate }, request, reply));
    app.get("/objects/*", { exposeHeadRoute: false }, (request, reply) => get(store, request, reply));
    app.head("/objects/*", (request, reply) => get(store, request, reply));
  };
}

async function put(
  { store, leastRate }: { store: DiskStore; leastRate: Parameters<typeof requireRate>[1] },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { raw } = request;
  try {
    const permission = permit(store, request, "PUT");
    if (permission.method !== "PUT") throw new TypeError("a PUT was permitted as something else");
    if (raw.headers["content-encoding"] !== undefined) {
      throw new ApiError("object_mismatch", "Send the object as it is, without a content encoding.");
    }
    const length = raw.headers["content-length"];
    if (length !== undefined && length !== String(permission.sizeBytes)) {
      throw new ApiError(
        "object_mismatch",
        `The URL permits ${permission.sizeBytes} bytes, but the request announces ${length}.`,
      );
    }
    const over = await takeUploadPlace(store.places, permission.key);
    const stop = requireRate(raw, leastRate);
    try {
      if ("uploadId" in permission) reply.header("etag", await store.multipart.receive(permission, raw));
      else await store.receive(permission.key, raw, permission);
    } finally {
      stop();
      over();
    }
  } catch (error) {
    if (raw.destroyed && !raw.complete)
      throw new ApiError("invalid_request", "The upload was interrupted.", { issues: [] });
    lingerBriefly(request, reply);
    throw error;
  }
  return reply.code(200).send({});
}

async function get(store: DiskStore, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { key } = permit(store, request, "GET");
  const file = await store.open(key);
  if (file === null) throw notFound("object");
  const { size, mtimeMs } = await file.stat();
  const etag = `"${size.toString(16)}-${Math.floor(mtimeMs).toString(16)}"`;
  const ifRange = request.headers["if-range"];
  const range = parseByteRange(
    ifRange === undefined || ifRange === etag ? request.headers.range : undefined,
    size,
  );
  reply.headers({ "accept-ranges": "bytes", "content-type": "application/octet-stream", etag });
  if (range.kind === "unsatisfiable") {
    await file.close();
    const body = {
      error: "invalid_request",
      message: `The object has ${size} bytes.`,
      request_id: request.id,
      details: {},
    };
    return reply
      .code(416)
      .header("content-range", `bytes */${size}`)
      .type("application/json; charset=utf-8")
      .send(body);
  }
  const [start, end] = range.kind === "part" ? [range.start, range.end] : [0, size - 1];
  reply.code(range.kind === "part" ? 206 : 200).header("content-length", String(end - start + 1));
  if (range.kind === "part") reply.header("content-range", `bytes ${start}-${end}/${size}`);
  if (request.method === "HEAD" || size === 0) {
    await file.close();
    return reply.send("");
  }
  reply.raw.setTimeout(IDLE_MS, () => reply.raw.destroy());
  return reply.send(file.createReadStream({ start, end, highWaterMark: 256 * 1024 }));
}

/** 404 for text that can't be a key, 403 for everything that the signature does not cover. */
function permit(store: DiskStore, request: FastifyRequest, method: "PUT" | "GET"): Permission {
  const [path = "", query = ""] = (request.raw.url ?? "").split("?", 2);
  // The path as it was sent: keys need no escapes, so a path with escapes is not ours.
  const key = path.startsWith(PREFIX) ? path.slice(PREFIX.length) : "";
  if (!isObjectKey(key)) throw notFound("object");
  const result = openPermission(method, key, new URLSearchParams(query), store.hmacKey, new Date());
  if (result.ok) {
    connectionAuthenticated(request.raw);
    return result.permission;
  }
  throw new ApiError(
    "forbidden",
    result.reason === "expired"
      ? "The URL has expired. Ask for another one."
      : "The URL's signature does not permit this.",
  );
}

/**
 * Reads and drops the rest of the body after a refusal: if the connection were closed with unread
 * bytes, it would be reset and the answer lost. This has a time limit.
 */
function lingerBriefly(request: FastifyRequest, reply: FastifyReply): void {
  const { raw } = request;
  raw.resume();
  reply.raw.once("finish", () => {
    if (raw.complete) return;
    const timer = setTimeout(() => raw.socket.destroy(), LINGER_MS);
    timer.unref();
    raw.once("end", () => clearTimeout(timer));
  });
}
