import { setTimeout as delay } from "node:timers/promises";
import type { ScratchServer } from "../scratch-server.ts";

const LOOKS = 40;
const EVERY_MS = 50;

/**
 * Whether an error with that SQLSTATE is the server's own: code of the restored database may raise any. What a client is told, the server
 * logs before, on another way to us. Of a database of the customer's nobody here sees the log: there it counts as its own.
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
