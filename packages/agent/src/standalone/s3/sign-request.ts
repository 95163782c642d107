import { createHash, createHmac } from "node:crypto";

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface RequestToSign {
  readonly method: string;
  readonly url: URL;
  readonly region: string;
  /** Lower-case names. All of them are signed, with `host`, `x-amz-content-sha256` and `x-amz-date` besides. */
  readonly headers: Readonly<Record<string, string>>;
  /** Lower-case hex; `UNSIGNED-PAYLOAD` where nobody has hashed it. */
  readonly payloadSha256: string;
  readonly now: Date;
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();

/** RFC 3986 with nothing left out: only the unreserved characters stay. */
export function uriEncode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/**
 * The headers of a request to S3, with its Signature Version 4 in `authorization`
 * (Amazon S3 API reference, "Authenticating Requests: Using the Authorization Header"). The URL's path is encoded already.
 */
export function signRequest(request: RequestToSign, credentials: S3Credentials): Record<string, string> {
  const { method, url, region, payloadSha256, now } = request;
  const date = now.toISOString().replaceAll(/[-:]|\.\d{3}/g, "");
  const headers: Record<string, string> = {
    ...request.headers,
    "x-amz-content-sha256": payloadSha256,
    "x-amz-date": date,
  };
  const signed: Readonly<Record<string, string>> = { ...headers, host: url.host };
  const names = Object.keys(signed).toSorted();
  const query = [...url.searchParams]
    .map(([name, value]) => `${uriEncode(name)}=${uriEncode(value)}`)
    .toSorted()
    .join("&");
  const canonical = [
    method,
    url.pathname,
    query,
    ...names.map((name) => `${name}:${(signed[name] ?? "").trim().replaceAll(/ +/g, " ")}`),
    "",
    names.join(";"),
    payloadSha256,
  ].join("\n");
  const scope = `${date.slice(0, 8)}/${region}/s3/aws4_request`;
  const toSign = ["AWS4-HMAC-SHA256", date, scope, sha256(canonical)].join("\n");
  const key = ["s3", "aws4_request"].reduce(
    hmac,
    hmac(hmac(`AWS4${credentials.secretAccessKey}`, date.slice(0, 8)), region),
  );
  const signature = hmac(key, toSign).toString("hex");
  return {
    ...headers,
    authorization:
      `AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/${scope},` +
      `SignedHeaders=${names.join(";")},Signature=${signature}`,
  };
}
