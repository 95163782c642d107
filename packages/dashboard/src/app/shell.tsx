import { AppShell, Burger, Button, Group, NavLink, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, Outlet, useNavigate, useRouterState } from "@tanstack/react-router";
import { Suspense } from "react";
import { api } from "../api/client.ts";
import { useMe } from "../api/session.ts";
import { PageSkeleton } from "../parts/page-skeleton.tsx";
import { strings } from "../text/strings.ts";
import { NAVIGATION } from "./navigation.ts";

/** Navigation around every page of somebody who is signed in. */
export function Shell() {
  const [opened, { toggle, close }] = useDisclosure(false);
  const path = useRouterState({ select: (state) => state.location.pathname });
  const { user, org } = useMe();
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 220, breakpoint: "sm", collapsed: { mobile: !opened } }}
      padding="md"
    >
      <a href="#main" className="skip-link">
        {strings.shell.skipToContent}
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
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
            <Text fw={600} truncate>
              {org?.name ?? strings.shell.service}
            </Text>
          </Group>
          <Group gap="sm" wrap="nowrap">
            <Text size="sm" c="dimmed" visibleFrom="sm">
              {user.email}
            </Text>
            <SignOutButton />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" aria-label={strings.shell.navigation}>
        {NAVIGATION.map(({ to, label }) => (
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
          <Outlet />
        </Suspense>
      </AppShell.Main>
    </AppShell>
  );
}

function SignOutButton() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const signOut = useMutation({
    mutationFn: () => api.call("post", "/api/auth/logout"),
    onSettled: async () => {
      client.clear();
      await navigate({ to: "/login" });
    },
  });
  return (
    <Button variant="default" size="xs" loading={signOut.isPending} onClick={() => signOut.mutate()}>
      {strings.shell.signOut}
    </Button>
  );
}
