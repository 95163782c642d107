import { createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { meQuery } from "../api/session.ts";
import { HomePage } from "../pages/home/home-page.tsx";
import { LoginPage } from "../pages/login/login-page.tsx";
import { SignupPage } from "../pages/login/signup-page.tsx";
import { FailurePanel } from "../parts/feedback/failure-panel.tsx";
import { NotFoundPanel } from "../parts/feedback/not-found-panel.tsx";
import { PageSkeleton } from "../parts/feedback/page-skeleton.tsx";
import { peopleRoutes } from "./people-routes.tsx";
import { proofRoutes, verifyRoute } from "./proof-routes.tsx";
import { queryClient } from "../api/query-client.ts";
import { rootRoute, signedInRoute } from "./root-routes.tsx";
import { sourceRoutes } from "./source-routes.tsx";

const loginRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/login",
  validateSearch: (search): { next?: string } =>
    typeof search["next"] === "string" && isOwnPath(search["next"]) ? { next: search["next"] } : {},
  component: LoginPage,
});

const signupRoute = createRoute({ getParentRoute: () => rootRoute, path: "/signup", component: SignupPage });

/** The target of auditor links. The secret is the URL fragment, which the router leaves alone. */
const sharedRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/shared",
  component: lazyRouteComponent(() => import("../pages/auditor/shared-page.tsx"), "SharedPage"),
});

const homeRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/",
  // Neither has an organisation, so neither has a home page.
  beforeLoad: async ({ context }) => {
    const me = await context.queryClient.ensureQueryData(meQuery);
    if (me?.user.role === "operator") throw redirect({ to: "/operator" });
    if (me?.user.role === "reader") throw redirect({ to: "/receipts" });
  },
  component: HomePage,
});

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    loginRoute,
    signupRoute,
    sharedRoute,
    verifyRoute,
    signedInRoute.addChildren([homeRoute, ...sourceRoutes, ...proofRoutes, ...peopleRoutes]),
  ]),
  context: { queryClient },
  defaultPendingComponent: PageSkeleton,
  defaultErrorComponent: ({ error, reset }) => <FailurePanel error={error} onRetry={reset} isPage />,
  defaultNotFoundComponent: NotFoundPanel,
  defaultPreload: "intent",
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}

/** Accepts only paths within this dashboard: `//host` would leave it. */
function isOwnPath(path: string): boolean {
  return /^\/(?![/\\])/.test(path);
}
