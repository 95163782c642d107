import { createHash, createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { S3Settings } from "../src/platform/objects/s3-presign.ts";

export interface S3TestServer {
  settings: S3Settings;
  objects: Map<string, { bytes: Buffer; sha256: string | null }>;
  /** Uploads under way, by upload id. */
  uploads: Map<string, Map<number, Buffer>>;
  /** Requests to fail with 503 before any is served. */
  failures: number;
  requests: string[];
  close(): Promise<void>;
}

interface Reply {
  status: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

const sha256 = (bytes: string | Buffer): string => createHash("sha256").update(bytes).digest("hex");
const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();
const error = (status: number, code: string): Reply => ({
  status,
  body: `<Error><Code>${code}</Code></Error>`,
});

/**
 * For tests: an S3 of our own that checks each request's Signature Version 4 by the published
 * rules, in code that shares nothing with the signer. Path style, small objects, pages of two in
 * lists.
 */
export async function startS3TestServer(options: { verifiesChecksums: boolean }): Promise<S3TestServer> {
  const server: Server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const state: S3TestServer = {
    settings: {
      endpoint: `http://127.0.0.1:${port}`,
      region: "eu-test-1",
      bucket: "backups",
      accessKeyId: "AKIDTEST",
      secretAccessKey: "secret/of+the=test",
      pathStyle: true,
    },
    objects: new Map(),
    uploads: new Map(),
    failures: 0,
    requests: [],
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  server.on("request", (request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
      const reply = serve(state, options, request, Buffer.concat(chunks));
      const length = reply.headers?.["content-length"] ?? String(Buffer.byteLength(reply.body ?? ""));
      response.writeHead(reply.status, { ...reply.headers, "content-length": length }).end(reply.body ?? "");
    })();
  });
  return state;
}

function serve(
  state: S3TestServer,
  options: { verifiesChecksums: boolean },
  request: IncomingMessage,
  body: Buffer,
): Reply {
  const url = new URL(request.url ?? "/", state.settings.endpoint);
  state.requests.push(`${request.method} ${url.pathname}${url.search}`);
  if (state.failures > 0) {
    state.failures -= 1;
    return error(503, "SlowDown");
  }
  if (!isSigned(state.settings, request, url)) return error(403, "SignatureDoesNotMatch");
  const prefix = `/${state.settings.bucket}/`;
  if (!url.pathname.startsWith(prefix)) return error(404, "NoSuchBucket");
  const key = decodeURIComponent(url.pathname.slice(prefix.length));
  if (url.searchParams.has("uploads") || url.searchParams.has("uploadId"))
    return multipart(state, request, url, key, body);
  return key === "" ? list(state, url) : object(state, options, request, key, body);
}

function object(
  state: S3TestServer,
  options: { verifiesChecksums: boolean },
  request: IncomingMessage,
  key: string,
  body: Buffer,
): Reply {
  const stored = state.objects.get(key);
  switch (request.method ?? "") {
    case "PUT": {
      const claimed = request.headers["x-amz-checksum-sha256"];
      const claimedHex = typeof claimed === "string" ? Buffer.from(claimed, "base64").toString("hex") : null;
      if (options.verifiesChecksums && claimedHex !== null && claimedHex !== sha256(body))
        return error(400, "BadDigest");
      state.objects.set(key, { bytes: body, sha256: claimedHex });
      return { status: 200 };
    }
    case "GET":
      return stored === undefined
        ? error(404, "NoSuchKey")
        : { status: 200, body: stored.bytes, headers: { etag: `"${sha256(stored.bytes)}"` } };
    case "HEAD": {
      if (stored === undefined) return { status: 404 };
      const headers: Record<string, string> = {
        "content-length": String(stored.bytes.length),
        etag: `"${sha256(stored.bytes)}"`,
      };
      if (stored.sha256 !== null && request.headers["x-amz-checksum-mode"] === "ENABLED") {
        headers["x-amz-checksum-sha256"] = Buffer.from(stored.sha256, "hex").toString("base64");
      }
      return { status: 200, headers };
    }
    case "DELETE":
      state.objects.delete(key);
      return { status: 204 };
    default:
      return error(405, "MethodNotAllowed");
  }
}

function multipart(
  state: S3TestServer,
  request: IncomingMessage,
  url: URL,
  key: string,
  body: Buffer,
): Reply {
  if (request.method === "POST" && url.searchParams.has("uploads")) {
    const id = `upload+${state.uploads.size}/=&`;
    state.uploads.set(id, new Map());
    return { status: 200, body: `<r><UploadId>${id.replace("&", "&amp;")}</UploadId></r>` };
  }
  const id = url.searchParams.get("uploadId") ?? "";
  const parts = state.uploads.get(id);
  if (parts === undefined) return error(404, "NoSuchUpload");
  if (request.method === "PUT") {
    parts.set(Number(url.searchParams.get("partNumber")), body);
    return { status: 200, headers: { etag: `"${sha256(body)}"` } };
  }
  state.uploads.delete(id);
  if (request.method === "DELETE") return { status: 204 };
  const listed = [
    ...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>&#34;([0-9a-f]+)&#34;<\/ETag>/g),
  ];
  const chosen = listed.map(([, number, etag]) => ({ bytes: parts.get(Number(number)), etag }));
  if (chosen.some(({ bytes, etag }) => bytes === undefined || sha256(bytes) !== etag))
    return { ...error(200, "InvalidPart") };
  state.objects.set(key, {
    bytes: Buffer.concat(chosen.map(({ bytes }) => bytes ?? Buffer.alloc(0))),
    sha256: null,
  });
  return { status: 200, body: "<r><ETag>x</ETag></r>" };
}

function list(state: S3TestServer, url: URL): Reply {
  const keys = [...state.objects.keys()]
    .filter((key) => key.startsWith(url.searchParams.get("prefix") ?? ""))
    .sort();
  const from = Number(url.searchParams.get("continuation-token") ?? 0);
  const page = keys.slice(from, from + 2);
  const contents = page.map(
    (key) =>
      `<Contents><Key>${encodeURIComponent(key)}</Key><LastModified>2026-01-02T03:04:05.000Z</LastModified>` +
      `<Size>${state.objects.get(key)?.bytes.length}</Size></Contents>`,
  );
  const more = from + 2 < keys.length;
  const next = more ? `<NextContinuationToken>${from + 2}</NextContinuationToken>` : "";
  return {
    status: 200,
    body: `<r><EncodingType>url</EncodingType><IsTruncated>${more}</IsTruncated>${next}${contents.join("")}</r>`,
  };
}

/** Signature Version 4, in the query or in the Authorization header; payload unsigned. */
function isSigned(settings: S3Settings, request: IncomingMessage, url: URL): boolean {
  const inQuery = url.searchParams.get("X-Amz-Signature");
  const authorization =
    /^AWS4-HMAC-SHA256 Credential=([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]+)$/.exec(
      request.headers.authorization ?? "",
    );
  const credential = inQuery === null ? authorization?.[1] : url.searchParams.get("X-Amz-Credential");
  const signedHeaders =
    (inQuery === null ? authorization?.[2] : url.searchParams.get("X-Amz-SignedHeaders"))?.split(";") ?? [];
  const signature = inQuery ?? authorization?.[3];
  const date =
    inQuery === null ? String(request.headers["x-amz-date"]) : (url.searchParams.get("X-Amz-Date") ?? "");
  if (credential !== `${settings.accessKeyId}/${date.slice(0, 8)}/${settings.region}/s3/aws4_request`)
    return false;
  if (inQuery !== null) {
    const signedAt = Date.parse(
      date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"),
    );
    if (Date.now() > signedAt + Number(url.searchParams.get("X-Amz-Expires")) * 1000) return false;
  }
  const encode = (text: string): string =>
    encodeURIComponent(text).replace(
      /[!'()*]/g,
      (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
    );
  const query = [...url.searchParams]
    .filter(([name]) => name !== "X-Amz-Signature")
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort();
  const canonical = [
    request.method,
    url.pathname,
    query.join("&"),
    ...signedHeaders.map((name) => `${name}:${String(request.headers[name] ?? "").trim()}`),
    "",
    signedHeaders.join(";"),
    inQuery === null ? String(request.headers["x-amz-content-sha256"]) : "UNSIGNED-PAYLOAD",
  ].join("\n");
  const scope = credential.slice(credential.indexOf("/") + 1);
  const dateKey = hmac(`AWS4${settings.secretAccessKey}`, date.slice(0, 8));
  const signingKey = hmac(hmac(hmac(dateKey, settings.region), "s3"), "aws4_request");
  return (
    hmac(signingKey, ["AWS4-HMAC-SHA256", date, scope, sha256(canonical)].join("\n")).toString("hex") ===
    signature
  );
}
