import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { signedInRoute } from "./root-routes.tsx";

const under = { getParentRoute: () => signedInRoute };

/** Pages about agents, people, and auditor links. */
export const peopleRoutes = [
  createRoute({
    ...under,
    path: "/agents",
    component: lazyRouteComponent(() => import("../pages/agents/agents-page.tsx"), "AgentsPage"),
  }),
  createRoute({
    ...under,
    path: "/agents/$agentId",
    component: lazyRouteComponent(() => import("../pages/agents/agent-page.tsx"), "AgentPage"),
  }),
  createRoute({
    ...under,
    path: "/attach",
    validateSearch: (search): { code?: string } =>
      typeof search["code"] === "string" ? { code: search["code"].slice(0, 32) } : {},
    component: lazyRouteComponent(() => import("../pages/attach/attach-page.tsx"), "AttachPage"),
  }),
  createRoute({
    ...under,
    path: "/auth-keys",
    component: lazyRouteComponent(() => import("../pages/auth-keys/auth-keys-page.tsx"), "AuthKeysPage"),
  }),
  createRoute({
    ...under,
    path: "/members",
    component: lazyRouteComponent(() => import("../pages/members/members-page.tsx"), "MembersPage"),
  }),
  createRoute({
    ...under,
    path: "/auditor-links",
    component: lazyRouteComponent(
      () => import("../pages/auditor/auditor-links-page.tsx"),
      "AuditorLinksPage",
    ),
  }),
  createRoute({
    ...under,
    path: "/settings",
    component: lazyRouteComponent(() => import("../pages/settings/settings-page.tsx"), "SettingsPage"),
  }),
  createRoute({
    ...under,
    path: "/passkeys",
    component: lazyRouteComponent(() => import("../pages/passkeys/passkeys-page.tsx"), "PasskeysPage"),
  }),
  createRoute({
    ...under,
    path: "/notifications",
    component: lazyRouteComponent(
      () => import("../pages/notifications/notifications-page.tsx"),
      "NotificationsPage",
    ),
  }),
  createRoute({
    ...under,
    path: "/evidence",
    component: lazyRouteComponent(() => import("../pages/evidence/evidence-page.tsx"), "EvidencePage"),
  }),
  createRoute({
    ...under,
    path: "/operator",
    component: lazyRouteComponent(
      () => import("../pages/operators/organisations-page.tsx"),
      "OrganisationsPage",
    ),
  }),
  createRoute({
    ...under,
    path: "/operator/$orgId",
    component: lazyRouteComponent(
      () => import("../pages/operators/organisation-page.tsx"),
      "OrganisationPage",
    ),
  }),
] as const;
