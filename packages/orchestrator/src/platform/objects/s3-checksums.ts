import { createHash, randomBytes } from "node:crypto";
import { PROBE_PREFIX } from "./object-key.ts";
import type { S3Client } from "./s3-client.ts";

/**
 * Whether the store compares the given SHA-256 with the bytes; some only repeat it. It gets an
 * object with a right one and then with a wrong one, and is trusted only if it accepts the first
 * and refuses the second.
 */
export async function probeChecksums(
  client: S3Client,
  remove: (key: string) => Promise<unknown>,
): Promise<boolean> {
  const key = `${PROBE_PREFIX}${randomBytes(8).toString("hex")}`;
  const put = async (hashed: string): Promise<number> => {
    const headers = { "x-amz-checksum-sha256": createHash("sha256").update(hashed).digest("base64") };
    return (await client.call({ method: "PUT", key, headers, body: "probe" }, [200, 400])).status;
  };
  const [right, wrong] = [await put("probe"), await put("other bytes")];
  // If a default retention of the bucket holds it, the sweep removes it once that ends.
  await remove(key);
  return right === 200 && wrong === 400;
}
