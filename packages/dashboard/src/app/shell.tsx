import { Group } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Outlet, useRouterState } from "@tanstack/react-router";
import { lazy, Suspense, useCallback, useState } from "react";
import { useLive } from "../api/live.ts";
import { NoOrganisation, useMe } from "../api/session.ts";
import { FailurePanel } from "../parts/feedback/failure-panel.tsx";
import { PageSkeleton } from "../parts/feedback/page-skeleton.tsx";
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
import classes from "./shell.module.css";

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
    <div className={classes["shell"]} data-banner={hasBanner(me) || undefined}>
      <a href="#main" className="skip-link">
        {strings.shell.skipToContent}
      </a>
      <header className={classes["header"]}>
        <Group className={classes["bar"] ?? ""} px="md" justify="space-between" wrap="nowrap">
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
      </header>
      <nav
        className={classes["navigation"]}
        aria-label={strings.shell.navigation}
        data-open={opened || undefined}
      >
        <div className={classes["scroll"]}>
          <Sidebar onGo={close} />
        </div>
        <p className={classes["zone"]}>{strings.shell.zone(localZone())}</p>
      </nav>
      <main id="main" className={classes["main"]}>
        <Suspense fallback={<PageSkeleton />}>
          {isForbidden ? <FailurePanel error={new NoOrganisation()} isPage /> : <Outlet />}
        </Suspense>
      </main>
      <Suspense>
        {opens === "palette" && <Palette onClose={nothing} onHelp={help} />}
        {opens === "help" && (
          <ShortcutHelp onClose={nothing} isOn={shortcuts.isOn} onSwitch={shortcuts.setOn} />
        )}
      </Suspense>
      <ToastRegion />
      <footer className={classes["footer"]}>
        <BottomBar isOpen={opened} onToggle={toggle} onGo={close} />
      </footer>
    </div>
  );
}
