import { setTimeout as delay } from "node:timers/promises";
import type { ScratchServer } from "../scratch-server.ts";

const LOOKS = 40;
const EVERY_MS = 50;
const LOOKS_FOR_FIRST = 400;

/**
 * Whether an error with that SQLSTATE is the server's own: code of the restored database may raise
 * any. What a client is told, the server logs before, on another way to us. Of a database of the
 * customer's nobody here sees the log: there it counts as its own.
 */
export async function isOwnError(
  { runtime, errors }: Pick<ScratchServer, "runtime" | "errors">,
  sqlstate: string,
): Promise<boolean> {
  if (runtime.kind === "uri") return true;
  for (let look = 0; look < LOOKS; look++) {
    if (errors.includes(sqlstate)) return true;
    await delay(EVERY_MS);
  }
  return false;
}

/**
 * The SQLSTATE of the first of the server's errors since `before` of them that counts: the one that
 * a restore ended by. Later ones are its consequences, such as connections that broke off because
 * the other workers were stopped. Undefined if the server had none.
 *
 * `stderr` is what the client said: the server logs before what it tells, but the log comes on
 * another way to us, and may come later.
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
