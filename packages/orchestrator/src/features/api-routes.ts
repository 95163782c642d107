import type { Route } from "../platform/http/route/route.ts";
import { featureRoutes, type FeatureDeps } from "./routes.ts";

/** Settings that routes are made with. The routes' descriptions do not show them. */
const SETTINGS: Readonly<Record<PropertyKey, unknown>> = {
  publicUrl: "https://localhost:8443",
  heartbeatInterval_s: 60,
  silentAfterIntervals: 10,
  caPem: null,
  downloads: "",
  signup: "open",
  hasMail: true,
};

/**
 * Returns every route of the service with its description, for tools and tests that only read
 * routes. The handlers cannot be called, because nothing is behind them.
 */
export function apiRoutes(): Route[] {
  const absent: object = new Proxy({}, { get: (_, name) => (name in SETTINGS ? SETTINGS[name] : absent) });
  return featureRoutes(absent as FeatureDeps);
}
