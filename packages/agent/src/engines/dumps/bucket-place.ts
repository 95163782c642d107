import { join } from "node:path";
import { xmlTexts } from "@attestore/host/s3/xml";
import { isDiskFull } from "@attestore/host/errno";
import { UserError } from "../../errors/user-error.ts";
import { readSecret } from "../../secrets/read-secret.ts";
import { RunError, stopIfAborted } from "../../errors/run-error.ts";
import { makeScratchDirectory } from "../../sandboxes/process/scratch-directory.ts";
import { readPinnedCa } from "../../transport/pinned-ca.ts";
import { PATIENT } from "../../transport/backoff.ts";
import { downloadObject } from "../../transport/download-object.ts";
import { ServiceError } from "../../transport/service-error.ts";
import { objectConnections } from "../../transport/tls-trust.ts";
import { EMPTY_SHA256, s3Client, type S3Client } from "../../transport/s3-client.ts";
import type { S3Location } from "../../config/storage-config.ts";
import type { DumpsPlace, FoundDump } from "./place.ts";

/** A page has a thousand objects. */
const MAX_PAGES = 100;

/**
 * A bucket of Amazon S3, or of another store that speaks S3 with Signature Version 4. To read a
 * dump, it is copied into the scratch directory.
 */
export async function bucketPlace(location: S3Location): Promise<DumpsPlace> {
  const credentials = await orReference(async () => ({
    accessKeyId: await readSecret(location.accessKeyId, "the S3 access key id"),
    secretAccessKey: await readSecret(location.secretAccessKey, "the S3 secret access key"),
  }));
  const connections = objectConnections(await orReference(() => readPinnedCa(location.caFile)));
  const client = s3Client(location, credentials, { connections, backoff: PATIENT });
  const where = `s3://${[location.bucket, location.prefix].filter((part) => part !== "").join("/")}`;
  return {
    where,
    list: async (parts, signal) => {
      const all = await orUnavailable(where, signal, () => listed(client, where, signal));
      return all.filter(({ path }) => {
        const names = path.split("/");
        return names.length === parts.length && parts.every((part, at) => part.test(names[at] ?? ""));
      });
    },
    stateOf: (path, signal) =>
      orUnavailable(where, signal, async () => {
        const request = { method: "HEAD", url: client.url(path), expected: [200, 404], signal } as const;
        const { status, headers } = await client.ask(request);
        return status === 404 ? null : stateOf(headers.etag ?? "", Number(headers["content-length"]));
      }),
    fetch: async ({ path, size }, { scratchDir, signal }) => {
      const directory = await makeScratchDirectory(scratchDir, null);
      try {
        const file = join(directory.path, "dump");
        const url = client.url(path);
        await downloadObject(connections, client.backoff, {
          url: url.href,
          headers: () => client.sign("GET", url, EMPTY_SHA256),
          file,
          expectedBytes: size,
          signal,
        });
        return { path: file, remove: () => directory.remove() };
      } catch (error) {
        await directory.remove();
        stopIfAborted(signal);
        throw notFetched(`${where}/${path}`, error);
      }
    },
    close: () => connections.destroy(),
  };
}

async function listed(client: S3Client, where: string, signal: AbortSignal): Promise<FoundDump[]> {
  const { prefix } = client.location;
  const below = prefix === "" ? "" : `${prefix}/`;
  const found: FoundDump[] = [];
  let token: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const url = client.url("", {
      "list-type": "2",
      ...(below === "" ? {} : { prefix: below }),
      ...(token === undefined ? {} : { "continuation-token": token }),
    });
    const { body } = await client.ask({ method: "GET", url, expected: [200], signal });
    const xml = body.toString("utf8");
    const [keys, sizes, times, tags] = ["Key", "Size", "LastModified", "ETag"].map((name) =>
      xmlTexts(xml, name),
    );
    if (keys === undefined || sizes === undefined || times === undefined || tags === undefined) break;
    if (new Set([keys.length, sizes.length, times.length, tags.length]).size !== 1)
      throw new RunError("source_missing", `${where} sent a malformed listing`);
    for (const [at, key] of keys.entries()) {
      const [size, modified_ms] = [Number(sizes[at]), Date.parse(times[at] ?? "")];
      if (!key.startsWith(below) || !Number.isSafeInteger(size) || Number.isNaN(modified_ms)) continue;
      found.push({ path: key.slice(below.length), size, modified_ms, state: stateOf(tags[at] ?? "", size) });
    }
    [token] = xmlTexts(xml, "NextContinuationToken");
    if (token === undefined) return found;
  }
  throw new RunError("source_missing", `${where} has more than ${MAX_PAGES}000 objects: use a longer prefix`);
}

function stateOf(etag: string, size: number): string {
  return `${etag.replaceAll('"', "")} ${size}`;
}

async function orReference<Result>(read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    throw new RunError("connection_reference", error.message, { cause: error });
  }
}

async function orUnavailable<Result>(
  where: string,
  signal: AbortSignal,
  ask: () => Promise<Result>,
): Promise<Result> {
  try {
    return await ask();
  } catch (error) {
    stopIfAborted(signal);
    if (!(error instanceof ServiceError)) throw error;
    const code = error.code === "object_refused" ? "source_missing" : "connection_failed";
    throw new RunError(code, `${where} cannot be listed: ${error.message}`, { cause: error });
  }
}

function notFetched(what: string, error: unknown): unknown {
  if (isDiskFull(error))
    return new RunError(
      "disk_full",
      `not enough space in the scratch directory for a copy of ${what}: give it more`,
    );
  if (!(error instanceof ServiceError)) return error;
  return new RunError(
    "ciphertext_unavailable",
    `the dump ${what} cannot be downloaded: ${error.message}. If it was rotated away, register a newer one with \`attestore backup\``,
    { cause: error },
  );
}
