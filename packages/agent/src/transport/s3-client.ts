import type { Agent } from "node:https";
import { amazonEndpoint, s3Address } from "@attestore/host/s3/address";
import { signS3Headers, type S3Credentials } from "@attestore/host/s3/signature";
import { retrying, type Backoff } from "./backoff.ts";
import { exchange, type Answer } from "./exchange.ts";
import { storeRefusal } from "./store-refusal.ts";

export const EMPTY_SHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

export interface S3Bucket {
  readonly bucket: string;
  /** Without slashes at its ends; may be empty. */
  readonly prefix: string;
  /** Null for Amazon's. */
  readonly endpoint: URL | null;
  readonly region: string;
}

/** One bucket, and requests to it. */
export interface S3Client {
  readonly location: S3Bucket;
  readonly connections: Agent;
  readonly backoff: Backoff;
  /** Of an object below the prefix, or of the bucket for an empty key. */
  url(key: string, query?: Readonly<Record<string, string>>): URL;
  /** Headers for a request that is sent immediately: a signature is valid for 15 minutes. */
  sign(method: string, url: URL, payloadSha256: string): Promise<Record<string, string>>;
  /** A small request with a small answer. @throws ServiceError for an unexpected status */
  ask(request: SmallRequest): Promise<Answer>;
}

export interface SmallRequest {
  readonly method: "GET" | "POST" | "HEAD" | "DELETE";
  readonly url: URL;
  readonly body?: { readonly text: string; readonly sha256: string };
  readonly expected: readonly number[];
  readonly signal: AbortSignal;
}

export function s3Client(
  location: S3Bucket,
  credentials: S3Credentials,
  { connections, backoff }: { connections: Agent; backoff: Backoff },
): S3Client {
  const { bucket, region, endpoint, prefix } = location;
  // Amazon expects the bucket in the host name, most other stores only accept it in the path.
  const address =
    endpoint === null
      ? { endpoint: amazonEndpoint(region), bucket, pathStyle: false }
      : { endpoint: endpoint.origin, bucket, pathStyle: true };
  const url: S3Client["url"] = (key, query) =>
    s3Address(address, key === "" || prefix === "" ? key : `${prefix}/${key}`, query);
  const sign: S3Client["sign"] = (method, to, payloadSha256) =>
    signS3Headers({ method, url: to, region, signedAt: new Date() }, payloadSha256, credentials);
  return {
    location,
    connections,
    backoff,
    url,
    sign,
    ask: (request) =>
      retrying(backoff, request.signal, async () => {
        const answer = await exchange({
          method: request.method,
          url: request.url,
          headers: await sign(request.method, request.url, request.body?.sha256 ?? EMPTY_SHA256),
          ...(request.body === undefined ? {} : { body: request.body.text }),
          connections,
          timeout_ms: 60_000,
          maxResponseBytes: 4 * 1024 * 1024,
          signal: request.signal,
        });
        if (request.expected.includes(answer.status)) return answer;
        throw storeRefusal(request.url, answer);
      }),
  };
}
