import type { Route } from "../../platform/http/route.ts";
import { channelRoutes } from "./channels/channel-routes.ts";
import { deliveryRoutes } from "./deliveries/delivery-routes.ts";
import type { NotificationDeps } from "./channels/deps.ts";

/** Where an organisation is told what happens, and what it was told. */
export function notificationRoutes(deps: NotificationDeps): Route[] {
  return [...channelRoutes(deps), ...deliveryRoutes()];
}
