import { AwsV4Signer } from "aws4fetch";

export interface S3Settings {
  /** Such as https://s3.eu-central-1.amazonaws.com; without a path. */
  endpoint: string;
  region: string;
  bucket: string;
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string | undefined;
  /** True: the bucket is the first part of the path, as most stores besides AWS want it; false: it is part of the host's name. */
  pathStyle: boolean;
}

export interface S3Request {
  method: string;
  key: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
}

/** The address of a key (or of the bucket, for the empty key). */
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

/**
 * A URL with AWS Signature Version 4 in its query. Every header given is among the signed ones, so the store refuses a request
 * that sends another length or checksum; in the query, where SDKs put them, stores do not look at them.
 */
export async function presignS3(
  settings: S3Settings,
  request: S3Request,
  expiresInSeconds: number,
  signedAt: Date,
): Promise<string> {
  const signed = await new AwsV4Signer({
    ...credentials(settings),
    method: request.method,
    url: s3Url(settings, request.key, {
      ...request.query,
      "X-Amz-Expires": String(expiresInSeconds),
    }).toString(),
    headers: request.headers ?? {},
    datetime: amzDate(signedAt),
    signQuery: true,
    allHeaders: true,
  }).sign();
  return signed.url.toString();
}

/** A request of our own, signed in its headers. */
export async function signS3(
  settings: S3Settings,
  request: S3Request & { body?: string },
): Promise<{ url: URL; headers: Headers }> {
  const { url, headers } = await new AwsV4Signer({
    ...credentials(settings),
    method: request.method,
    url: s3Url(settings, request.key, request.query).toString(),
    headers: request.headers ?? {},
    ...(request.body === undefined ? {} : { body: request.body }),
  }).sign();
  return { url, headers };
}

function credentials(settings: S3Settings) {
  const { accessKeyId, secretAccessKey, sessionToken, region } = settings;
  return {
    accessKeyId,
    secretAccessKey,
    region,
    service: "s3",
    ...(sessionToken === undefined ? {} : { sessionToken }),
  };
}

function amzDate(date: Date): string {
  return date.toISOString().replace(/[:-]|\.\d{3}/g, "");
}
