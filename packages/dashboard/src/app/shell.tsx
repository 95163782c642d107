import { AppShell, Group } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Outlet, useRouterState } from "@tanstack/react-router";
import { lazy, Suspense, useCallback, useState } from "react";
import { useLive } from "../api/live.ts";
import { NoOrganisation, useMe } from "../api/session.ts";
import { FailurePanel } from "../parts/failure-panel.tsx";
import { PageSkeleton } from "../parts/page-skeleton.tsx";
import { localZone } from "../text/format.ts";
import { strings } from "../text/strings.ts";
import { AccountMenu } from "./account-menu.tsx";
import { BottomBar } from "./bottom-bar.tsx";
import { SearchButton } from "./search-button.tsx";
import { OrgSwitcher } from "./org-switcher.tsx";
import { hasBanner, SessionBanner } from "./session-banner.tsx";
import { Sidebar } from "./sidebar.tsx";
import { ToastRegion } from "./toast-region.tsx";
import { useShortcuts } from "./use-shortcuts.ts";
import classes from "./sidebar.module.css";

const HEADER = 56;

const Palette = lazy(async () => ({ default: (await import("./palette/palette.tsx")).Palette }));
const ShortcutHelp = lazy(async () => ({
  default: (await import("./palette/shortcut-help.tsx")).ShortcutHelp,
}));

/** The frame with navigation around every signed-in page. */
export function Shell() {
  const [opened, { toggle, close }] = useDisclosure(false);
  const path = useRouterState({ select: (state) => state.location.pathname });
  const me = useMe();
  // Operators have no organisation and see only their own pages.
  const isForbidden = me.org === null && !path.startsWith("/operator") && path !== "/passkeys";
  useLive();
  const [opens, setOpens] = useState<"palette" | "help" | null>(null);
  const search = useCallback(() => setOpens("palette"), []);
  const help = useCallback(() => setOpens("help"), []);
  const nothing = useCallback(() => setOpens(null), []);
  const shortcuts = useShortcuts({ onSearch: search, onHelp: help });
  return (
    <AppShell
      header={{ height: hasBanner(me) ? { base: HEADER + 72, sm: HEADER + 44 } : HEADER }}
      navbar={{ width: 232, breakpoint: "sm", collapsed: { mobile: !opened } }}
      footer={{ height: { base: 56, sm: 0 } }}
      padding="md"
      // Keep what is being read in place.
      transitionDuration={0}
    >
      <a href="#main" className="skip-link">
        {strings.shell.skipToContent}
      </a>
      {/* Its menus open over the navigation. */}
      <AppShell.Header zIndex={150}>
        <Group h={HEADER} px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap" miw={0}>
            <img src="/icon.svg" alt="" width={24} height={24} />
            <OrgSwitcher />
          </Group>
          <Group gap="sm" wrap="nowrap">
            <SearchButton onClick={search} />
            <AccountMenu />
          </Group>
        </Group>
        <SessionBanner me={me} />
      </AppShell.Header>
      <AppShell.Navbar aria-label={strings.shell.navigation}>
        <div className={classes["scroll"]}>
          <Sidebar onGo={close} />
        </div>
        <p className={classes["zone"]}>{strings.shell.zone(localZone())}</p>
      </AppShell.Navbar>
      <AppShell.Main id="main">
        <Suspense fallback={<PageSkeleton />}>
          {isForbidden ? <FailurePanel error={new NoOrganisation()} isPage /> : <Outlet />}
        </Suspense>
      </AppShell.Main>
      <Suspense>
        {opens === "palette" && <Palette onClose={nothing} onHelp={help} />}
        {opens === "help" && (
          <ShortcutHelp onClose={nothing} isOn={shortcuts.isOn} onSwitch={shortcuts.setOn} />
        )}
      </Suspense>
      <ToastRegion />
      <AppShell.Footer hiddenFrom="sm">
        <BottomBar isOpen={opened} onToggle={toggle} onGo={close} />
      </AppShell.Footer>
    </AppShell>
  );
}
