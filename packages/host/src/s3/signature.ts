import { AwsV4Signer } from "aws4fetch";

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

export interface RequestToSign {
  readonly method: string;
  /** With an already encoded path. */
  readonly url: URL;
  readonly region: string;
  /** All headers are signed, so the store refuses a request that sends different ones. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly signedAt: Date;
}

/**
 * The headers of a request to S3, with its Signature Version 4 in `authorization`; it is good for
 * 15 minutes (Amazon S3 API reference, "Authenticating Requests: Using the Authorization Header").
 *
 * @param payloadSha256 lower-case hex; null where nobody has hashed it
 */
export async function signS3Headers(
  request: RequestToSign,
  payloadSha256: string | null,
  credentials: S3Credentials,
): Promise<Record<string, string>> {
  const headers = { ...request.headers, "x-amz-content-sha256": payloadSha256 ?? "UNSIGNED-PAYLOAD" };
  const signed = await signer({ ...request, headers }, credentials).sign();
  return Object.fromEntries(signed.headers);
}

/**
 * Returns a URL with the signature in its query (the same reference, "Using Query Parameters").
 * Lengths and checksums are bound as signed headers: stores ignore them in the query, where SDKs
 * put them.
 */
export async function presignS3Url(
  request: RequestToSign,
  expiresInSeconds: number,
  credentials: S3Credentials,
): Promise<URL> {
  const url = new URL(request.url);
  url.searchParams.set("X-Amz-Expires", String(expiresInSeconds));
  const signed = await signer({ ...request, url }, credentials, { signQuery: true }).sign();
  return signed.url;
}

function signer(
  { method, url, region, headers, signedAt }: RequestToSign,
  { accessKeyId, secretAccessKey, sessionToken }: S3Credentials,
  { signQuery = false } = {},
): AwsV4Signer {
  return new AwsV4Signer({
    method,
    url: url.href,
    headers: { ...headers },
    accessKeyId,
    secretAccessKey,
    ...(sessionToken === undefined ? {} : { sessionToken }),
    service: "s3",
    region,
    datetime: signedAt.toISOString().replace(/[:-]|\.\d{3}/g, ""),
    signQuery,
    allHeaders: true,
  });
}
