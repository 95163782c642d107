import { createHash } from "node:crypto";
import { xmlText } from "@attestore/host/s3/xml";
import { ApiError } from "../errors/api-error.ts";
import type { S3Client } from "./s3-client.ts";

export interface ObjectLock {
  mode: "GOVERNANCE" | "COMPLIANCE";
  days: number;
}

/** The lock that keeps an object from being removed; null if there is none. */
export interface Lock {
  mode: string | null;
  /** Null for a legal hold, which lasts until somebody ends it. */
  until: Date | null;
}

const DAY_MS = 86_400_000;

/**
 * The lock that the answer to a HEAD shows. Stores show it only to callers with permission
 * (s3:GetObjectRetention, s3:GetObjectLegalHold).
 */
export function readLock(headers: Headers, now: Date): Lock | null {
  const mode = headers.get("x-amz-object-lock-mode");
  if (headers.get("x-amz-object-lock-legal-hold") === "ON") return { mode, until: null };
  const until = new Date(headers.get("x-amz-object-lock-retain-until-date") ?? Number.NaN);
  return Number.isNaN(until.getTime()) || until <= now ? null : { mode, until };
}

/**
 * Locks an object from now on for the days in the settings. Never shortens an existing lock (the
 * bucket's own default, or one from an earlier try), so it may be repeated.
 */
export async function protectObject(
  client: S3Client,
  key: string,
  { mode, days }: ObjectLock,
  now: Date,
): Promise<void> {
  const head = await client.call({ method: "HEAD", key }, [200]);
  const until = new Date(now.getTime() + days * DAY_MS);
  const lock = readLock(head.headers, now);
  if (lock?.until && lock.until >= until) return;
  const stricter = lock?.mode === "COMPLIANCE" ? lock.mode : mode;
  const body =
    `<Retention xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Mode>${stricter}</Mode>` +
    `<RetainUntilDate>${until.toISOString()}</RetainUntilDate></Retention>`;
  // S3 requires a digest of the body for every call about locks.
  const headers = { "content-md5": createHash("md5").update(body).digest("base64") };
  const version = head.headers.get("x-amz-version-id");
  const query = { retention: "", ...(version === null ? {} : { versionId: version }) };
  await client.call({ method: "PUT", key, query, headers, body }, [200]);
}

/** Whether the bucket was made with object lock; null if the store can't be asked at the moment. */
export async function bucketLocksObjects(client: S3Client): Promise<boolean | null> {
  try {
    const response = await client.call({ method: "GET", key: "", query: { "object-lock": "" } }, [200, 404]);
    return response.status === 200 && xmlText(response.text, "ObjectLockEnabled") === "Enabled";
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
}
