import type { FastifyRequest } from "fastify";
import { ApiError } from "../../errors/api-error.ts";
import { SESSION_COOKIE } from "./session-credentials.ts";

/**
 * The session token in a request's cookie, or null. If there are several cookies of that name, the
 * first counts.
 */
export function sessionCookie(request: FastifyRequest): string | null {
  for (const pair of (request.headers.cookie ?? "").split(";")) {
    const [name, value] = pair.trim().split("=", 2);
    if (name === SESSION_COOKIE && value !== undefined) return value;
  }
  return null;
}

/**
 * Refuses a state-changing call authenticated by a cookie unless it comes from the service's own
 * pages: browsers send `Origin` with every such call, and no page of another origin can set it.
 */
export function assertOwnOrigin(request: FastifyRequest, origin: string): void {
  if (request.method === "GET" || request.method === "HEAD") return;
  if (request.headers.origin === origin) return;
  throw new ApiError(
    "forbidden",
    "A call that changes something with a cookie must come from the service's own pages. Programs send the token as Authorization: Bearer.",
  );
}

/** `Set-Cookie` for a session; the cookie lasts until the browser closes or the session ends. */
export function setSessionCookie(token: string, expiresAt: Date): string {
  return `${SESSION_COOKIE}=${token}; Path=/; Secure; HttpOnly; SameSite=Strict; Expires=${expiresAt.toUTCString()}`;
}

export const CLEAR_SESSION_COOKIE = `${SESSION_COOKIE}=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0`;
