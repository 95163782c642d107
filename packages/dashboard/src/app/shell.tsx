import { AppShell, Burger, Group, NavLink, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Link, Outlet, useRouterState } from "@tanstack/react-router";
import { Suspense } from "react";
import { useLive } from "../api/live.ts";
import { NoOrganisation, useMe } from "../api/session.ts";
import { FailurePanel } from "../parts/failure-panel.tsx";
import { PageSkeleton } from "../parts/page-skeleton.tsx";
import { strings } from "../text/strings.ts";
import { destinationsFor } from "./navigation.ts";
import { OrgName } from "./org-name.tsx";
import { hasBanner, SessionBanner } from "./session-banner.tsx";
import { SignOutButton } from "../parts/sign-out-button.tsx";

const HEADER = 56;

/** The frame with navigation around every signed-in page. */
export function Shell() {
  const [opened, { toggle, close }] = useDisclosure(false);
  const path = useRouterState({ select: (state) => state.location.pathname });
  const me = useMe();
  const { user, org } = me;
  // Operators have no organisation and see only their own pages.
  const isForbidden = org === null && !path.startsWith("/operator") && path !== "/passkeys";
  useLive();
  return (
    <AppShell
      header={{ height: hasBanner(me) ? { base: HEADER + 72, sm: HEADER + 44 } : HEADER }}
      navbar={{ width: 220, breakpoint: "sm", collapsed: { mobile: !opened } }}
      padding="md"
      // Keep what is being read in place.
      transitionDuration={0}
    >
      <a href="#main" className="skip-link">
        {strings.shell.skipToContent}
      </a>
      <AppShell.Header>
        <Group h={HEADER} px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger
              opened={opened}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={strings.shell.navigation}
              aria-expanded={opened}
            />
            <img src="/icon.svg" alt="" width={24} height={24} />
            <OrgName />
          </Group>
          <Group gap="sm" wrap="nowrap">
            <Text size="sm" c="dimmed" visibleFrom="sm">
              {user.email === "" ? user.name : user.email}
            </Text>
            <SignOutButton />
          </Group>
        </Group>
        <SessionBanner me={me} />
      </AppShell.Header>
      <AppShell.Navbar p="sm" aria-label={strings.shell.navigation}>
        {destinationsFor(user.role).map(({ to, label }) => (
          <NavLink
            key={to}
            label={label}
            active={to === "/" ? path === "/" : path.startsWith(to)}
            onClick={close}
            renderRoot={(props) => <Link to={to} {...props} />}
          />
        ))}
      </AppShell.Navbar>
      <AppShell.Main id="main">
        <Suspense fallback={<PageSkeleton />}>
          {isForbidden ? <FailurePanel error={new NoOrganisation()} isPage /> : <Outlet />}
        </Suspense>
      </AppShell.Main>
    </AppShell>
  );
}
