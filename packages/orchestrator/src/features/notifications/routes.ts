import type { Route } from "../../platform/http/route/route.ts";
import { channelRoutes } from "./channels/channel-routes.ts";
import { deliveryRoutes } from "./deliveries/delivery-routes.ts";
import type { NotificationDeps } from "./channels/deps.ts";

/** An organisation's channels, and the messages sent to them. */
export function notificationRoutes(deps: NotificationDeps): Route[] {
  return [...channelRoutes(deps), ...deliveryRoutes()];
}
