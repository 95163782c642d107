/** Calls of every route about what one organisation has. */
import { apiRoutes } from "../../src/features/api-routes.ts";
import type { Route } from "../../src/platform/http/route/route.ts";
import type { Call } from "../client.ts";
import type { TestService } from "../service.ts";
import { nameOf } from "../tenancy/fill.ts";
import { requestAbout } from "../tenancy/requests.ts";
import { type World, idOf } from "../tenancy/world.ts";
import { POLICY } from "../../src/platform/http/route/policy.ts";

/** Calls that are about all that there is. */
const ABOUT_ALL = new Set([
  "GET /api/orgs/:orgID/evidence",
  "GET /api/orgs/:orgID/sources/:sourceID/retention-preview",
]);

export function tokenOf(route: Route, world: World, operator: string): string | undefined {
  switch (route.credential) {
    case "agent":
      return world.agent.token;
    case "auth_key":
      return world.org.authKey;
    case "user":
    case "session":
      return (POLICY[route.action] as readonly string[]).includes("owner") ? world.tokens.owner : operator;
    case "anonymous":
      return undefined;
  }
}

/** In the middle of what many-rows.ts makes. */
const LONG_AGO = new Date(Date.now() - 20 * 86_400_000).toISOString();

interface QuerySchema {
  properties?: Record<string, { enum?: string[]; anyOf?: { const?: string }[]; pattern?: string }>;
}

/** The call of a route as it is, and for a list with each of its filters, and further on in it. */
export async function callsOf(
  route: Route,
  service: TestService,
  world: World,
  operator: string,
): Promise<Call[]> {
  const { call } = requestAbout(route, { about: world, by: world, pick: (slot) => idOf(world, slot) });
  if (route.method !== "GET") return [call];
  const bare = { ...call, path: call.path.split("?")[0] ?? "" };
  const { properties = {} } = (route.query ?? {}) as QuerySchema;
  const filters = Object.entries(properties).flatMap(([name, { enum: values, anyOf }]): string[] => {
    if (name === "from" || name === "to") return [`${name}=${LONG_AGO}`];
    if (name === "limit") return ["limit=200"];
    const choices = values ?? anyOf?.flatMap(({ const: value }) => value ?? []) ?? [];
    return choices.map((value) => `${name}=${value}`);
  });
  const calls = [call, ...filters.map((filter) => ({ ...bare, path: `${bare.path}?${filter}` }))];
  const first = await service.call({ ...bare, token: tokenOf(route, world, operator) });
  const cursor = first.json["next_cursor"];
  if (typeof cursor === "string") calls.push({ ...bare, path: `${bare.path}?cursor=${cursor}` });
  return calls;
}

/** Reading first: what writes may take away what the others are about. */
export function measurableRoutes(): Route[] {
  return apiRoutes()
    .filter((route) => !ABOUT_ALL.has(nameOf(route)) && route.path !== "/api/auth/logout")
    .toSorted((a, b) => Number(b.method === "GET") - Number(a.method === "GET"));
}
