import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { request as httpsRequest } from "node:https";
import { connect } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { AwsV4Signer } from "aws4fetch";
import type { Environment } from "./programs.ts";
import { until } from "./wait.ts";

/** What tools/install-versitygw has built. */
const PROGRAM = join(
  process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"),
  "attestore",
  "versitygw-v1.8.0",
);

export interface S3Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export interface S3Request {
  method: string;
  /**
   * A presigned URL, sent as it is; or a key, of which the request is then signed as the bucket's
   * owner.
   */
  url?: string;
  key?: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: Uint8Array | string;
}

/** A real S3 server, with an empty bucket of its own. */
export interface S3Server {
  settings: {
    endpoint: string;
    region: string;
    bucket: string;
    accessKeyId: string;
    secretAccessKey: string;
    pathStyle: true;
  };
  /** What makes the orchestrator use it; `NODE_EXTRA_CA_CERTS` is for agents too. */
  environment: Environment;
  /** Its certificate, PEM; null without TLS. */
  certificate: string | null;
  send: (request: S3Request) => Promise<S3Answer>;
  /**
   * Credentials of a new user, who may do on the bucket what an IAM policy says and nothing else.
   */
  userWith: (policy: string) => Promise<{ accessKeyId: string; secretAccessKey: string }>;
  stop: () => Promise<void>;
  /** Removes its files too. */
  remove: () => Promise<void>;
}

export interface S3ServerOptions {
  /** With a certificate of its own for localhost. */
  tls?: boolean;
  /** The bucket is made with object lock, and so with versions. */
  objectLock?: boolean;
}

export async function startS3Server(options: S3ServerOptions = {}): Promise<S3Server> {
  if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is missing: run tools/setup test`);
  const directory = mkdtempSync(join(tmpdir(), "attestore-s3-"));
  const folder = (name: string): string => {
    mkdirSync(join(directory, name));
    return join(directory, name);
  };
  const [objects, versions, metadata] = [folder("objects"), folder("versions"), folder("metadata")];
  const certificate = options.tls === true ? makeCertificate(directory) : null;
  const port = await freePort();
  const settings = {
    endpoint: certificate === null ? `http://127.0.0.1:${port}` : `https://localhost:${port}`,
    region: "eu-test-1",
    bucket: "backups",
    accessKeyId: "AKIDTEST",
    secretAccessKey: "secret/of+the=test",
    pathStyle: true as const,
  };
  const args = ["--quiet", "--port", `127.0.0.1:${port}`, "--region", settings.region];
  if (certificate !== null) args.push("--cert", certificate.file, "--key", certificate.key);
  args.push("--iam-dir", folder("users"), "posix", "--sidecar", metadata);
  if (options.objectLock === true) args.push("--versioning-dir", versions);
  args.push(objects);
  // It ends with the process that started it, even where that one is killed.
  const child = spawn("setpriv", ["--pdeathsig", "KILL", PROGRAM, ...args], {
    stdio: ["ignore", "ignore", "pipe"],
    env: {
      PATH: "/usr/bin:/bin",
      HOME: directory,
      ROOT_ACCESS_KEY: settings.accessKeyId,
      ROOT_SECRET_KEY: settings.secretAccessKey,
    },
  });
  let talk = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (talk += text));
  const ended = once(child, "exit");

  const sendOnce = async ({
    method,
    url,
    key = "",
    query,
    headers = {},
    body,
  }: S3Request): Promise<S3Answer> => {
    if (url !== undefined) return exchange(new URL(url), method, headers, body, certificate?.pem);
    const target = new URL(`/${settings.bucket}${key === "" ? "" : `/${key}`}`, settings.endpoint);
    for (const [name, value] of Object.entries(query ?? {})) target.searchParams.set(name, value);
    const signer = new AwsV4Signer({
      ...settings,
      service: "s3",
      method,
      url: target.href,
      headers,
      ...(body === undefined ? {} : { body: Buffer.from(body) }),
    });
    const signed = await signer.sign();
    return exchange(signed.url, method, Object.fromEntries(signed.headers), body, certificate?.pem);
  };
  /** Every request may be repeated; one whose answer was lost in a reset connection is. */
  const send = async (request: S3Request): Promise<S3Answer> => {
    for (let tries = 1; ; tries++) {
      try {
        return await sendOnce(request);
      } catch (error) {
        const code = error instanceof Error && "code" in error ? error.code : "";
        if ((code !== "ECONNRESET" && code !== "EPIPE") || tries >= 10) throw error;
      }
    }
  };
  const userWith = async (policy: string): Promise<{ accessKeyId: string; secretAccessKey: string }> => {
    const user = { accessKeyId: "AKIDUSER", secretAccessKey: "secret-of-the-user" };
    const { accessKeyId, secretAccessKey, endpoint, region } = settings;
    const admin = `admin --access ${accessKeyId} --secret ${secretAccessKey} --region ${region} --endpoint-url ${endpoint}`;
    const create = `create-user --access ${user.accessKeyId} --secret ${user.secretAccessKey} --role user`;
    const { status, stderr } = spawnSync(PROGRAM, [...admin.split(" "), ...create.split(" ")], {
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`versitygw admin create-user: ${stderr}`);
    // An IAM policy belongs to its user; on a bucket each statement names whom it is about.
    const { Statement, ...rest } = JSON.parse(policy) as { Statement: object[] };
    const named = Statement.map((statement) => ({ ...statement, Principal: { AWS: user.accessKeyId } }));
    const body = JSON.stringify({ ...rest, Statement: named });
    const answer = await send({ method: "PUT", query: { policy: "" }, body });
    if (answer.status >= 300) throw new Error(`the policy: ${answer.status} ${answer.body.toString()}`);
    return user;
  };
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), 5000);
    await ended;
    clearTimeout(timer);
  };
  const remove = async (): Promise<void> => {
    await stop();
    rmSync(directory, { recursive: true, force: true });
  };

  try {
    await until("the S3 server listens", () => {
      if (child.exitCode !== null) throw new Error(`versitygw ended with ${child.exitCode}: ${talk}`);
      return isOpen(port);
    });
    const lock: Record<string, string> =
      options.objectLock === true ? { "x-amz-bucket-object-lock-enabled": "true" } : {};
    const made = await send({ method: "PUT", headers: lock });
    if (made.status !== 200) throw new Error(`the bucket: ${made.status} ${made.body.toString()}`);
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    settings,
    environment: {
      ATTESTORE_S3_BUCKET: settings.bucket,
      ATTESTORE_S3_ENDPOINT: settings.endpoint,
      ATTESTORE_S3_REGION: settings.region,
      ATTESTORE_S3_ACCESS_KEY_ID: settings.accessKeyId,
      ATTESTORE_S3_SECRET_ACCESS_KEY: settings.secretAccessKey,
      ...(certificate === null ? {} : { NODE_EXTRA_CA_CERTS: certificate.file }),
    },
    certificate: certificate?.pem ?? null,
    send,
    userWith,
    stop,
    remove,
  };
}

function exchange(
  url: URL,
  method: string,
  headers: Record<string, string>,
  body: Uint8Array | string | undefined,
  ca: string | undefined,
): Promise<S3Answer> {
  const { "content-length": _announced, ...all } = headers;
  // The length of the body that is really sent, whatever was announced when it was signed.
  if (body !== undefined && !("transfer-encoding" in all))
    all["content-length"] = String(Buffer.byteLength(body));
  // A server that refuses closes at once, and its answer gets lost under a body that is still being
  // written. So the body waits a moment for a refusal, even where the server says that it may come:
  // this one says so before it has looked.
  const asksFirst = body !== undefined && Buffer.byteLength(body) > 16_384;
  if (asksFirst) all["expect"] = "100-continue";
  return new Promise((resolve, reject) => {
    const request = (url.protocol === "https:" ? httpsRequest : httpRequest)(
      url,
      { method, headers: all, ...(ca === undefined ? {} : { ca }) },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks),
          });
          request.destroy();
        });
      },
    );
    request.on("error", reject);
    request.setTimeout(30_000, () => request.destroy(new Error(`${method} ${url.pathname}: no answer`)));
    if (!asksFirst) return void request.end(body);
    request.once("continue", () => {
      const sending = setTimeout(() => request.end(body), 50);
      request.once("response", () => clearTimeout(sending));
    });
    request.flushHeaders();
  });
}

function makeCertificate(directory: string): { file: string; key: string; pem: string } {
  const [file, key] = [join(directory, "server.pem"), join(directory, "server.key")];
  const request = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost";
  const names = "subjectAltName=DNS:localhost,IP:127.0.0.1";
  const args = [...request.split(" "), "-addext", names, "-keyout", key, "-out", file];
  const { status, stderr } = spawnSync("openssl", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`openssl req: ${stderr}`);
  return { file, key, pem: readFileSync(file, "utf8") };
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}
