import type { FastifyRequest } from "fastify";

const BODY_TIMEOUT_MS = 30_000;

/**
 * Ends a connection whose JSON body is still not there after 30 seconds. Not a timeout of the whole server: uploads of
 * ciphertext take as long as they take.
 */
export function limitBodyTime(request: FastifyRequest): void {
  const { raw } = request;
  if (raw.complete) return;
  const timer = setTimeout(() => raw.destroy(new Error("the body did not arrive in time")), BODY_TIMEOUT_MS);
  timer.unref();
  raw.once("end", () => clearTimeout(timer));
  raw.once("close", () => clearTimeout(timer));
}
