import { Server } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { errorCode, errorMessage } from "@attestore/host/errno";
import type { FastifyInstance } from "fastify";
import { UserError } from "../platform/errors/user-error.ts";
import type { ListenAddress } from "../platform/config/setting-types.ts";

const CLOSE_IDLE_EVERY_MS = 100;
/** After the requests were cut off, what ends with the server has so much time. */
const CLOSE_WITHIN_MS = 10_000;

/** @throws UserError that says which address is in use or forbidden */
export async function listen(app: FastifyInstance, { host, port }: ListenAddress): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    // All addresses, on a machine without IPv6.
    if (errorCode(error) === "EAFNOSUPPORT" && host === "::") return listen(app, { host: "0.0.0.0", port });
    if (error instanceof Error && "syscall" in error) throw refused(error, host, port);
    throw error;
  }
}

function refused(error: Error, host: string, port: number): UserError {
  const where = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const reasons: Record<string, string> = {
    EADDRINUSE: `Another program already listens on ${where}.`,
    EACCES: `This user may not listen on ${where}; ports below 1024 need root.`,
    EADDRNOTAVAIL: `${host} is not an address of this machine.`,
    ENOTFOUND: `The name ${host} cannot be resolved.`,
  };
  const reason =
    reasons[errorCode(error) ?? ""] ?? `The service cannot listen on ${where} (${errorMessage(error)}).`;
  return new UserError("listen_failed", `${reason} Choose another address with ATTESTORE_LISTEN.`, {
    cause: error,
  });
}

/**
 * Stops listening and waits for running requests. Connections are closed as soon as they are idle,
 * without waiting for their clients; requests that still run at the end of the time are cut off,
 * and soon after that nothing is waited for any longer.
 * @param timeLeft_ms asked again and again, because a service that is told to stop gives less time
 * than a worker that was replaced
 * @returns whether all of them could finish
 */
export async function drain(
  app: FastifyInstance,
  timeLeft_ms: () => number,
  closeWithin_ms = CLOSE_WITHIN_MS,
): Promise<boolean> {
  let finished = true;
  const late = Promise.withResolvers<void>();
  const look = (): void => {
    app.server.closeIdleConnections();
    if (timeLeft_ms() > 0) return;
    finished = false;
    app.server.closeAllConnections();
    if (timeLeft_ms() < -closeWithin_ms) late.resolve();
  };
  const looking = setInterval(look, CLOSE_IDLE_EVERY_MS);
  try {
    await Promise.race([app.close(), late.promise]);
  } finally {
    clearInterval(looking);
  }
  return finished;
}

/** How long clients have to send one more request on a connection, and be told that it closes. */
const ELSEWHERE_MS = 3000;

/**
 * Makes clients go to the other workers without a failed request: accepts no more connections, and
 * announces in its answers that the connection closes. If it closed one without this, a request
 * could be on its way.
 */
export async function sendElsewhere(app: FastifyInstance, within_ms: number): Promise<void> {
  // The HTTP server's own close() also destroys connections whose first request is on its way.
  Server.prototype.close.call(app.server);
  const until = performance.now() + Math.min(ELSEWHERE_MS, within_ms);
  while (performance.now() < until && (await countConnections(app)) > 0) await delay(CLOSE_IDLE_EVERY_MS);
}

function countConnections({ server }: FastifyInstance): Promise<number> {
  return new Promise((resolve) => server.getConnections((_error, count) => resolve(count)));
}
