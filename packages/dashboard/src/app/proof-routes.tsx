import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { readBackupSearch } from "../pages/backups/search-params.ts";
import { readEventSearch } from "../pages/events/search-params.ts";
import { readReceiptSearch } from "../pages/receipts/search-params.ts";
import { rootRoute, signedInRoute } from "./root-routes.tsx";

/**
 * For anybody with a file, signed in or not. It must be loaded from the service, which serves it
 * with its own Content-Security-Policy.
 */
export const verifyRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/verify",
  component: lazyRouteComponent(() => import("../pages/verify/verify-page.tsx"), "VerifyPage"),
});

const under = { getParentRoute: () => signedInRoute };

/** Pages about receipts, backups, events and the log. */
export const proofRoutes = [
  createRoute({
    ...under,
    path: "/receipts",
    validateSearch: readReceiptSearch,
    component: lazyRouteComponent(() => import("../pages/receipts/receipts-page.tsx"), "ReceiptsPage"),
  }),
  createRoute({
    ...under,
    path: "/receipts/$receiptId",
    component: lazyRouteComponent(() => import("../pages/receipts/receipt-page.tsx"), "ReceiptPage"),
  }),
  createRoute({
    ...under,
    path: "/backups",
    validateSearch: readBackupSearch,
    component: lazyRouteComponent(() => import("../pages/backups/backups-page.tsx"), "BackupsPage"),
  }),
  createRoute({
    ...under,
    path: "/backups/$backupId",
    component: lazyRouteComponent(() => import("../pages/backups/backup-page.tsx"), "BackupPage"),
  }),
  createRoute({
    ...under,
    path: "/events",
    validateSearch: readEventSearch,
    component: lazyRouteComponent(() => import("../pages/events/events-page.tsx"), "EventsPage"),
  }),
  createRoute({
    ...under,
    path: "/events/$eventId",
    component: lazyRouteComponent(() => import("../pages/events/event-page.tsx"), "EventPage"),
  }),
  createRoute({
    ...under,
    path: "/log",
    component: lazyRouteComponent(() => import("../pages/log/log-page.tsx"), "LogPage"),
  }),
] as const;
