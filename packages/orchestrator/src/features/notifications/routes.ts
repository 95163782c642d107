import type { Route } from "../../platform/http/route.ts";
import { channelRoutes } from "./channel-routes.ts";
import { deliveryRoutes } from "./delivery-routes.ts";
import type { NotificationDeps } from "./deps.ts";

/** Where an organisation is told what happens, and what it was told. */
export function notificationRoutes(deps: NotificationDeps): Route[] {
  return [...channelRoutes(deps), ...deliveryRoutes()];
}
