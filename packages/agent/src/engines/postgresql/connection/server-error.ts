import { setTimeout as delay } from "node:timers/promises";
import type { ScratchServer } from "../../scratch-server.ts";

const LOOKS = 40;
const EVERY_MS = 50;
const LOOKS_FOR_FIRST = 400;

/** The list of a server's errors ends here. */
export const MAX_ERRORS = 10_000;

/**
 * Whether an error with that SQLSTATE is the server's own. Code of the restored database may raise
 * any SQLSTATE. The server logs an error before it tells the client, and we get the log separately.
 * `at`: its place in the list of errors, if the client has seen all of those before. Otherwise some
 * other error may be the server's own. We can't see the log of a customer's database, so there
 * every error counts as the server's own.
 */
export async function isServerError(
  { runtime, errors }: Pick<ScratchServer, "runtime" | "errors">,
  sqlstate: string,
  at: number | null = null,
): Promise<boolean> {
  if (runtime.kind === "uri") return true;
  const place = at === null || at >= MAX_ERRORS ? null : at;
  for (let look = 0; look < LOOKS; look++) {
    if (place === null ? errors.includes(sqlstate) : errors[place] === sqlstate) return true;
    if (place !== null && errors.length > place) return false;
    await delay(EVERY_MS);
  }
  return false;
}

/**
 * Returns the SQLSTATE of the first error since `before` that counts: the one that ended the
 * restore. Later errors follow from it, for example when the other workers are stopped and their
 * connections break. Undefined if the server had no error.
 * `stderr` is what the client said. The server logs first, but the log may reach us later.
 */
export async function firstError(
  { runtime, errors, hasDied }: Pick<ScratchServer, "runtime" | "errors" | "hasDied">,
  before: number,
  counts: (sqlstate: string) => boolean,
  stderr: string,
): Promise<string | undefined> {
  const isTold = runtime.kind !== "uri" && /(?:ERROR|FATAL): /.test(stderr);
  for (let look = 0; ; look++) {
    const first = errors.slice(before).find(counts);
    if (first !== undefined || !isTold || hasDied() || look === LOOKS_FOR_FIRST) return first;
    await delay(EVERY_MS);
  }
}
