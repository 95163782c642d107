import { xmlText } from "@attestore/host/s3/xml";
import { unavailable } from "../errors/api-error.ts";
import type { Logger } from "../logging/logger.ts";
import type { S3Client } from "./s3-client.ts";
import { listS3, VERSIONS } from "./s3-listing.ts";
import { readLock } from "./s3-object-lock.ts";

/** Stores' messages if a lock is the reason: AWS and versitygw, MinIO and Ceph. */
const LOCKED = /object lock|WORM/i;

/**
 * Removes an object. In a bucket with versions a plain DELETE hides the object and keeps (and
 * bills) its bytes, whatever its lock, so each version is removed by its id. The current one goes
 * last except for delete markers: if this is cut off, a repeat finds the rest, and a locked object
 * stays readable.
 */
export async function removeObject(
  client: S3Client,
  key: string,
  log: Logger,
): Promise<"removed" | "retained"> {
  const { headers, status } = await client.call({ method: "HEAD", key }, [200, 404, 405]);
  if (status === 200 && readLock(headers, new Date()) !== null) return "retained";
  if (headers.has("x-amz-version-id")) return removeVersions(client, key, log);
  if (status === 200) return removeOne(client, key, {}, log);
  // Versions may exist behind a delete marker, which not every store shows in a HEAD.
  return (await bucketHasVersions(client)) ? removeVersions(client, key, log) : "removed";
}

/** A store that does not know versions, or does not list them, has none that we could remove. */
async function bucketHasVersions(client: S3Client): Promise<boolean> {
  const query = { versioning: "" };
  const response = await client.call({ method: "GET", key: "", query }, [200, 400, 403, 404, 405, 501]);
  const status = response.status === 200 ? xmlText(response.text, "Status") : null;
  return status === "Enabled" || status === "Suspended";
}

async function removeVersions(client: S3Client, key: string, log: Logger): Promise<"removed" | "retained"> {
  const versions: { id: string; isLatest: boolean }[] = [];
  for await (const entry of listS3(client, VERSIONS, key)) {
    if (entry.key !== key) continue;
    versions.push({ id: entry.text("VersionId") ?? "null", isLatest: entry.text("IsLatest") === "true" });
  }
  for (const { id } of versions.toSorted((a, b) => Number(a.isLatest) - Number(b.isLatest))) {
    if ((await removeOne(client, key, { versionId: id }, log)) === "retained") return "retained";
  }
  return "removed";
}

/** All versions but the current one; locked ones stay. */
export async function removeOldVersions(client: S3Client, key: string, log: Logger): Promise<void> {
  const old: string[] = [];
  for await (const entry of listS3(client, VERSIONS, key))
    if (entry.key === key && entry.text("IsLatest") === "false") old.push(entry.text("VersionId") ?? "null");
  for (const id of old) await removeOne(client, key, { versionId: id }, log);
}

async function removeOne(
  client: S3Client,
  key: string,
  query: Record<string, string>,
  log: Logger,
): Promise<"removed" | "retained"> {
  const response = await client.call({ method: "DELETE", key, query }, [200, 204, 400, 403, 404]);
  if (response.status !== 400 && response.status !== 403) return "removed";
  const answer = response.text;
  if (LOCKED.test(answer)) return "retained";
  const problem = `${response.status} ${xmlText(answer, "Code") ?? ""}`;
  log.error({ method: "DELETE", key, problem }, "the object store failed");
  throw unavailable("The object store does not let the service remove an object.");
}
