import type { IncomingMessage } from "node:http";

const BODY_TIMEOUT_MS = 30_000;

/** Whether a request announces a body (RFC 9112 section 6). */
export function announcesBody({ headers }: IncomingMessage): boolean {
  const length = headers["content-length"];
  return headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
}

/**
 * Ends a connection whose JSON body has not arrived after 30 seconds, whether it is read or
 * refused. Not a timeout of the whole server: uploads of ciphertext take as long as they need.
 */
export function limitBodyTime(raw: IncomingMessage): void {
  if (!announcesBody(raw)) return;
  const timer = setTimeout(() => raw.destroy(new Error("the body did not arrive in time")), BODY_TIMEOUT_MS);
  timer.unref();
  raw.once("end", () => clearTimeout(timer));
  raw.once("close", () => clearTimeout(timer));
}
