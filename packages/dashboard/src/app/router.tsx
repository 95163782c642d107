import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  Outlet,
  redirect,
} from "@tanstack/react-router";
import type { QueryClient } from "@tanstack/react-query";
import { meQuery } from "../api/session.ts";
import { HomePage } from "../pages/home/home-page.tsx";
import { LoginPage } from "../pages/login/login-page.tsx";
import { SignupPage } from "../pages/login/signup-page.tsx";
import { FailurePanel } from "../parts/failure-panel.tsx";
import { NotFoundPanel } from "../parts/not-found-panel.tsx";
import { PageSkeleton } from "../parts/page-skeleton.tsx";
import { queryClient } from "./query-client.ts";
import { Shell } from "./shell.tsx";

const rootRoute = createRootRouteWithContext<{ queryClient: QueryClient }>()({
  component: Outlet,
  errorComponent: ({ error, reset }) => <FailurePanel error={error} onRetry={reset} />,
  notFoundComponent: NotFoundPanel,
});

const loginRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/login",
  validateSearch: (search): { next?: string } =>
    typeof search["next"] === "string" && isOwnPath(search["next"]) ? { next: search["next"] } : {},
  component: LoginPage,
});

const signupRoute = createRoute({ getParentRoute: () => rootRoute, path: "/signup", component: SignupPage });

/** Everything that needs somebody to be signed in. */
export const signedInRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: "signed-in",
  beforeLoad: async ({ context, location }) => {
    const me = await context.queryClient.ensureQueryData(meQuery);
    if (me === null)
      throw redirect({ to: "/login", search: location.href === "/" ? {} : { next: location.href } });
  },
  component: Shell,
});

const homeRoute = createRoute({ getParentRoute: () => signedInRoute, path: "/", component: HomePage });

export const router = createRouter({
  routeTree: rootRoute.addChildren([loginRoute, signupRoute, signedInRoute.addChildren([homeRoute])]),
  context: { queryClient },
  defaultPendingComponent: PageSkeleton,
  defaultErrorComponent: ({ error, reset }) => <FailurePanel error={error} onRetry={reset} />,
  defaultNotFoundComponent: NotFoundPanel,
  defaultPreload: "intent",
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}

/** A path of this dashboard, and of nobody else: `//host` would leave it. */
function isOwnPath(path: string): boolean {
  return /^\/(?![/\\])/.test(path);
}
