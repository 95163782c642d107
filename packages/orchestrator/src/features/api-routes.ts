import type { Route } from "../platform/http/route.ts";
import { featureRoutes, type FeatureDeps } from "./routes.ts";

/** The settings that routes are made with; none of them shows in what describes the routes. */
const SETTINGS: Readonly<Record<PropertyKey, unknown>> = {
  publicUrl: "https://localhost:8443",
  heartbeatInterval_s: 60,
  caPem: null,
  downloads: "",
  signup: "open",
};

/**
 * Every call of the service with what describes it, for tools and tests that read the routes and
 * call none: what is behind them is not there.
 */
export function apiRoutes(): Route[] {
  const absent: object = new Proxy({}, { get: (_, name) => (name in SETTINGS ? SETTINGS[name] : absent) });
  return featureRoutes(absent as FeatureDeps);
}
