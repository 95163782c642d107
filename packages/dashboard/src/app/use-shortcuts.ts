import { useRouter } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useMe } from "../api/session.ts";
import { browserStorage } from "../verification/browser-storage.ts";
import { groupsFor } from "./navigation.ts";

/** The pages behind `g` and another key. */
const GO: Readonly<Record<string, string>> = {
  h: "/",
  s: "/sources",
  b: "/backups",
  a: "/agents",
  r: "/receipts",
  l: "/log",
  e: "/events",
  j: "/commands",
};
/** How long `g` waits for its second key. */
const PATIENCE_MS = 1_500;
const OFF = "attestore-single-keys-off";

/**
 * Keyboard shortcuts of every page. Single keys can be turned off, and this browser remembers it.
 */
export function useShortcuts(on: { onSearch: () => void; onHelp: () => void }): {
  isOn: boolean;
  setOn: (isOn: boolean) => void;
} {
  const [isOn, setIsOn] = useState(() => browserStorage().getItem(OFF) === null);
  const router = useRouter();
  const { role } = useMe().user;
  const { onSearch, onHelp } = on;
  useEffect(() => {
    let goesSince: number | null = null;
    const onKey = (event: KeyboardEvent): void => {
      const { key } = event;
      const isDialogOpen = document.querySelector("dialog[open]") !== null;
      if ((event.ctrlKey || event.metaKey) && !event.altKey && key.toLowerCase() === "k") {
        event.preventDefault();
        if (!isDialogOpen) onSearch();
        return;
      }
      if (!isOn || isDialogOpen || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.defaultPrevented || event.isComposing || isTyping(event.target)) return;
      const goes = goesSince !== null && event.timeStamp - goesSince < PATIENCE_MS;
      goesSince = null;
      if (goes) {
        const to = GO[key];
        const mayGo = groupsFor(role).some(({ places }) => places.some((place) => place.to === to));
        if (to !== undefined && mayGo) void router.navigate({ to });
        return;
      }
      if (key === "g") goesSince = event.timeStamp;
      else if (key === "?") onHelp();
      else if (key === "j") focusRow(1);
      else if (key === "k") focusRow(-1);
      else if (key === "/") {
        event.preventDefault();
        const filter = document.querySelector<HTMLInputElement>('main input[type="search"]');
        if (filter === null) onSearch();
        else filter.focus();
      }
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [isOn, onSearch, onHelp, role, router]);
  return {
    isOn,
    setOn: (next) => {
      setIsOn(next);
      if (next) browserStorage().removeItem(OFF);
      else browserStorage().setItem(OFF, "yes");
    },
  };
}

/** Keys belong to whoever takes text, or moves through choices by their first letters. */
const TAKES_TEXT = 'input:not([type="checkbox"], [type="radio"]), textarea, select, [role="menu"]';

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.closest(TAKES_TEXT) !== null);
}

/** Moves the focus to the link of the next row, or the one before. */
function focusRow(step: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>("main tbody tr, main [data-row]")].flatMap(
    (row) => row.querySelector<HTMLElement>("a") ?? [],
  );
  const row = document.activeElement?.closest("tr, [data-row]");
  const at = links.findIndex((link) => row?.contains(link) === true);
  const next = links[at === -1 ? (step === 1 ? 0 : links.length - 1) : at + step];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}
