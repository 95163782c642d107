import { once } from "node:events";
import { createServer } from "node:net";

const RANGE = { first: 10_000, each: 3_000 };

/** Workers that run side by side have a range each. What no worker runs takes the first. */
const worker = Number(process.env["VITEST_POOL_ID"] ?? 0) % 7;
let next = Math.floor(Math.random() * RANGE.each);

/**
 * A TCP port on 127.0.0.1 that is free now and still is when the program that gets it has started.
 * Asking the system for one does not hold that: it takes such ports from those that it also gives
 * to outgoing connections, of which other tests make hundreds a second.
 */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < RANGE.each; tried++) {
    next = (next + 1) % RANGE.each;
    const port = RANGE.first + worker * RANGE.each + next;
    if (await isFree(port)) return port;
  }
  throw new Error("no free port");
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer().listen(port, "127.0.0.1");
  try {
    await once(probe, "listening");
  } catch {
    return false;
  }
  probe.close();
  await once(probe, "close");
  return true;
}
