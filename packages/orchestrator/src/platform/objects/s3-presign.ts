import { createHash } from "node:crypto";
import { presignS3Url, signS3Headers } from "@attestore/host/s3/signature";
import type { RequestToSign } from "@attestore/host/s3/signature";

export interface S3Settings {
  /** Such as https://s3.eu-central-1.amazonaws.com; without a path. */
  endpoint: string;
  region: string;
  bucket: string;
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string | undefined;
  /**
   * True: the bucket is the first part of the path, as most stores besides AWS expect; false: it is
   * part of the host name.
   */
  pathStyle: boolean;
}

export interface S3Request {
  method: string;
  key: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
}

/** The address of a key, or of the bucket for the empty key. */
export function s3Url(settings: S3Settings, key: string, query: Record<string, string> = {}): URL {
  const url = new URL(settings.endpoint);
  if (settings.pathStyle) url.pathname = `/${settings.bucket}/${key}`;
  else {
    url.hostname = `${settings.bucket}.${url.hostname}`;
    url.pathname = `/${key}`;
  }
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url;
}

/** A URL for somebody else, who has to send the given headers. */
export async function presignS3(
  settings: S3Settings,
  request: S3Request,
  expiresInSeconds: number,
  signedAt: Date,
): Promise<string> {
  const url = await presignS3Url(toSign(settings, request, signedAt), expiresInSeconds, settings);
  return url.href;
}

/** A request of our own, signed in its headers, including its body. */
export async function signS3(
  settings: S3Settings,
  { body, ...request }: S3Request & { body?: string | Uint8Array },
): Promise<{ url: URL; headers: Record<string, string> }> {
  const unsigned = toSign(settings, request, new Date());
  const sha256 = createHash("sha256")
    .update(body ?? "")
    .digest("hex");
  return { url: unsigned.url, headers: await signS3Headers(unsigned, sha256, settings) };
}

function toSign(settings: S3Settings, request: S3Request, signedAt: Date): RequestToSign {
  const { method, key, query, headers = {} } = request;
  return { method, url: s3Url(settings, key, query), region: settings.region, headers, signedAt };
}
