import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { readApiLogSearch } from "../pages/api-logs/search-params.ts";
import { readCommandSearch } from "../pages/commands/search-params.ts";
import { readSourceListSearch, readSourceSearch } from "../pages/sources/search-params.ts";
import { signedInRoute } from "./root-routes.tsx";

const under = { getParentRoute: () => signedInRoute };

/** Pages about sources, commands and API calls. */
export const sourceRoutes = [
  createRoute({
    ...under,
    path: "/sources",
    validateSearch: readSourceListSearch,
    component: lazyRouteComponent(() => import("../pages/sources/sources-page.tsx"), "SourcesPage"),
  }),
  createRoute({
    ...under,
    path: "/sources/$sourceId",
    validateSearch: readSourceSearch,
    component: lazyRouteComponent(() => import("../pages/sources/source-page.tsx"), "SourcePage"),
  }),
  createRoute({
    ...under,
    path: "/sources/add",
    component: lazyRouteComponent(() => import("../pages/add-source/add-source-page.tsx"), "AddSourcePage"),
  }),
  createRoute({
    ...under,
    path: "/sources/$sourceId/new-check",
    component: lazyRouteComponent(
      () => import("../pages/check-builder/check-builder-page.tsx"),
      "CheckBuilderPage",
    ),
  }),
  createRoute({
    ...under,
    path: "/commands",
    validateSearch: readCommandSearch,
    component: lazyRouteComponent(() => import("../pages/commands/commands-page.tsx"), "CommandsPage"),
  }),
  createRoute({
    ...under,
    path: "/commands/$commandId",
    component: lazyRouteComponent(() => import("../pages/commands/command-page.tsx"), "CommandPage"),
  }),
  createRoute({
    ...under,
    path: "/api-logs",
    validateSearch: readApiLogSearch,
    component: lazyRouteComponent(() => import("../pages/api-logs/api-logs-page.tsx"), "ApiLogsPage"),
  }),
  createRoute({
    ...under,
    path: "/api-logs/$logId",
    component: lazyRouteComponent(() => import("../pages/api-logs/api-log-page.tsx"), "ApiLogPage"),
  }),
] as const;
