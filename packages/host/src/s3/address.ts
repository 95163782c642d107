export interface S3BucketAddress {
  /** The store's, such as https://s3.eu-central-1.amazonaws.com; its path counts for nothing. */
  readonly endpoint: string;
  readonly bucket: string;
  /**
   * True: the bucket is the first part of the path, as most stores besides AWS expect; false: it is
   * part of the host name, as Amazon expects.
   */
  readonly pathStyle: boolean;
}

/** The address of an object, or of the bucket for the empty key. */
export function s3Address(
  { endpoint, bucket, pathStyle }: S3BucketAddress,
  key: string,
  query: Readonly<Record<string, string>> = {},
): URL {
  const url = new URL(new URL(endpoint).origin);
  if (!pathStyle) url.hostname = `${bucket}.${url.hostname}`;
  const path = pathStyle ? `${bucket}/${key}` : key;
  url.pathname = `/${path.split("/").map(uriEncode).join("/")}`;
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url;
}

/** The endpoint of Amazon's own store in a region. */
export function amazonEndpoint(region: string): string {
  return `https://s3.${region}.amazonaws.com`;
}

/** RFC 3986 without exceptions: only the unreserved characters stay. */
function uriEncode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
