import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type pg from "pg";

/** How long an end waits for a server that may have vanished. */
export const END_WITHIN_MS = 2_000;

/**
 * Says goodbye and closes the connection. A server that vanished never closes it, and a process
 * does not end while a socket is open.
 */
export async function endClient(client: pg.Client): Promise<void> {
  const ended = client.end().catch(() => undefined);
  await Promise.race([ended, delay(END_WITHIN_MS, undefined, { ref: false })]);
  socketOf(client).destroy();
}

/** TLS's, where the connection has it. The driver has no public name for it. */
export function socketOf(client: pg.ClientBase): Socket {
  return (client as unknown as { connection: { stream: Socket } }).connection.stream;
}
