import { createRootRouteWithContext, createRoute, Outlet, redirect } from "@tanstack/react-router";
import type { QueryClient } from "@tanstack/react-query";
import { meQuery } from "../api/session.ts";
import { FailurePanel } from "../parts/feedback/failure-panel.tsx";
import { NotFoundPanel } from "../parts/feedback/not-found-panel.tsx";
import { SessionGuard } from "./session-guard.tsx";
import { Shell } from "./shell.tsx";

export const rootRoute = createRootRouteWithContext<{ queryClient: QueryClient }>()({
  component: Outlet,
  errorComponent: ({ error, reset }) => <FailurePanel error={error} onRetry={reset} isPage />,
  notFoundComponent: NotFoundPanel,
});

/** The routes for signed-in users. */
export const signedInRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: "signed-in",
  beforeLoad: async ({ context, location }) => {
    const me = await context.queryClient.ensureQueryData(meQuery);
    if (me === null)
      throw redirect({ to: "/login", search: location.href === "/" ? {} : { next: location.href } });
    // No other route answers these paths.
    if (me.passkey_required && location.pathname !== "/passkeys") throw redirect({ to: "/passkeys" });
  },
  component: () => (
    <SessionGuard>
      <Shell />
    </SessionGuard>
  ),
});
