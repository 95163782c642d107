import type { Route } from "../../platform/http/route.ts";
import { featureRoutes, type FeatureDeps } from "../routes.ts";

/**
 * Every call of the service with what describes it, for tools and tests that read the routes and call none: what is behind them is
 * not there.
 */
export function apiRoutes(): Route[] {
  const absent: object = new Proxy(
    {},
    { get: (_, name) => (name === "publicUrl" ? "https://localhost:8443" : absent) },
  );
  return featureRoutes(absent as FeatureDeps);
}
