import { createHash } from "node:crypto";
import { type S3BucketAddress, s3Address } from "@attestore/host/s3/address";
import { presignS3Url, signS3Headers } from "@attestore/host/s3/signature";
import type { RequestToSign } from "@attestore/host/s3/signature";

export interface S3Settings extends S3BucketAddress {
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string | undefined;
}

export interface S3Request {
  method: string;
  key: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
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
  return { method, url: s3Address(settings, key, query), region: settings.region, headers, signedAt };
}
