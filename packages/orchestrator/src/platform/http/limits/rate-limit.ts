import { plural } from "@attestore/proof";
import { hash } from "node:crypto";
import type { FastifyReply } from "fastify";
import { clientNetwork } from "./client-network.ts";
import { ApiError } from "../../errors/api-error.ts";
import type { RateLimit, RateLimitName, RateLimitTable } from "../route/rate-limits.ts";
import type { DatabaseTransaction } from "../../database/schema.ts";
import { CountedRateLimits, type RateLimitStore, type WindowCount } from "./rate-limit-store.ts";
import type { RequestState } from "../route/request-state.ts";
import type { Route } from "../route/route.ts";

export interface RateLimiting {
  table: RateLimitTable;
  stores: Readonly<Record<RateLimit["kept"], RateLimitStore>>;
  /** Calls that an organisation may make in the window of `org_requests`; null for any number. */
  requestQuota: (orgId: string) => Promise<number | null>;
}

/**
 * Applies the limits per address before a credential is looked at, or those per credential after. A
 * limit on failures is only read here: a blocked address is refused even with the right secret,
 * because otherwise it could keep guessing.
 */
export async function applyRateLimits(
  limiting: RateLimiting,
  per: RateLimit["per"],
  route: Route,
  state: RequestState,
  reply: FastifyReply,
  hits = 1,
): Promise<void> {
  for (const name of route.rateLimits) {
    const limit = limiting.table[name];
    if (limit.per !== per) continue;
    const store = limiting.stores[limit.kept];
    const bucket = bucketOf(name, limit, state);
    const onlyRead = limit.counts === "failures";
    const count = await (onlyRead ? store.read(bucket, limit) : addAll(store, bucket, limit, hits));
    describe(reply, name, limit, count);
    if (onlyRead ? count.hits >= limit.limit : count.hits > limit.limit) throw rateLimited(reply, count);
  }
}

/** The count after the last of these hits; a store takes those of one moment together. */
async function addAll(
  store: RateLimitStore,
  bucket: string,
  limit: RateLimit,
  hits: number,
): Promise<WindowCount> {
  const counts = await Promise.all(Array.from({ length: hits }, () => store.add(bucket, limit)));
  return counts.reduce((most, count) => (count.hits > most.hits ? count : most));
}

/**
 * Counts a call of an organisation's agents and people against its quota. Receipts, events,
 * heartbeats, waiting for commands and reports of progress are not counted: somebody who uses up
 * the quota must not keep alarms from coming through.
 */
export async function applyRequestQuota(
  { table, stores, requestQuota }: RateLimiting,
  route: Route,
  { principal }: RequestState,
  reply: FastifyReply,
): Promise<void> {
  if (route.mode === "submit" || !route.rateLimits.includes("default")) return;
  if (principal === null || principal.kind === "anonymous" || principal.orgId === null) return;
  const limit = await requestQuota(principal.orgId);
  if (limit === null) return;
  const window = { limit, window_s: table.org_requests.window_s };
  const count = await stores[table.org_requests.kept].add(`org_requests:${principal.orgId}`, window);
  if (count.hits <= limit) return;
  describe(reply, "org_requests", { ...table.org_requests, limit }, count);
  reply.header("retry-after", String(count.resets_s));
  throw new ApiError(
    "rate_limited",
    `The organisation has used its quota of ${limit} calls in ${plural(window.window_s, "second")}. Try again in ${plural(count.resets_s, "second")}.`,
    { retry_after_s: count.resets_s, quota: "requests" },
  );
}

/**
 * Counts a call against a limit per e-mail address, ignoring case and surrounding white space.
 * @param tx counts in this transaction instead of at once; only for limits that are `counted`
 */
export async function countEmail(
  limiting: RateLimiting,
  name: RateLimitName,
  { email, address }: { email: string; address: string },
  reply: FastifyReply,
  tx?: DatabaseTransaction,
): Promise<void> {
  const limit = limiting.table[name];
  // The others remember hits in this process, which a transaction that fails would not undo.
  if (tx !== undefined && limit.kept !== "counted") throw new Error(`${name} is not counted in the database`);
  const store = tx === undefined ? limiting.stores[limit.kept] : new CountedRateLimits(tx);
  // A hash: the address itself does not belong in a table of counters.
  const whose = hash("sha256", email.trim().toLowerCase(), "base64url");
  const from = limit.per === "email_at_address" ? `:${clientNetwork(address)}` : "";
  const count = await store.add(`${name}:${whose}${from}`, limit);
  describe(reply, name, limit, count);
  if (count.hits > limit.limit) throw rateLimited(reply, count);
}

/** Counts a refused credential against the limits on failures. */
export async function countFailure(
  limiting: RateLimiting,
  route: Route,
  state: RequestState,
  reply: FastifyReply,
): Promise<void> {
  for (const name of route.rateLimits) {
    const limit = limiting.table[name];
    if (limit.counts !== "failures") continue;
    const count = await limiting.stores[limit.kept].add(bucketOf(name, limit, state), limit);
    describe(reply, name, limit, count);
  }
}

function bucketOf(name: RateLimitName, limit: RateLimit, state: RequestState): string {
  const whose =
    limit.per === "credential" && state.principal !== null && state.principal.kind !== "anonymous"
      ? state.principal.credential.toString("base64url")
      : clientNetwork(state.address);
  return `${name}:${whose}`;
}

/**
 * `RateLimit-Policy` and `RateLimit` as in draft-ietf-httpapi-ratelimit-headers-10, sections 3 and
 * 4: one item for each limit.
 */
function describe(reply: FastifyReply, name: RateLimitName, limit: RateLimit, count: WindowCount): void {
  const left = Math.max(0, limit.limit - count.hits);
  setItem(reply, "ratelimit-policy", `"${name}"`, `q=${limit.limit};w=${limit.window_s}`);
  setItem(reply, "ratelimit", `"${name}"`, `r=${left};t=${count.resets_s}`);
}

function setItem(reply: FastifyReply, header: string, name: string, parameters: string): void {
  const before = reply.getHeader(header);
  const others = (typeof before === "string" ? before.split(", ") : []).filter(
    (item) => !item.startsWith(`${name};`),
  );
  reply.header(header, [...others, `${name};${parameters}`].join(", "));
}

function rateLimited(reply: FastifyReply, count: WindowCount): ApiError {
  reply.header("retry-after", String(count.resets_s));
  return new ApiError(
    "rate_limited",
    `Too many requests. Try again in ${plural(count.resets_s, "second")}.`,
    {
      retry_after_s: count.resets_s,
    },
  );
}
