import { UnstyledButton } from "@mantine/core";
import { Link, useRouterState } from "@tanstack/react-router";
import { useMe } from "../api/session.ts";
import { Icon } from "../parts/marks/icon.tsx";
import { strings } from "../text/strings.ts";
import classes from "./bottom-bar.module.css";
import { firstPlacesFor, isAt } from "./navigation.ts";

/** A phone's navigation: the first pages, and a button for all. */
export function BottomBar({
  isOpen,
  onToggle,
  onGo,
}: {
  isOpen: boolean;
  onToggle: () => void;
  onGo: () => void;
}) {
  const path = useRouterState({ select: (state) => state.location.pathname });
  const places = firstPlacesFor(useMe().user.role);
  return (
    <nav className={classes["bar"]} aria-label={strings.navigation.bottom}>
      {places.map(({ to, label, short, icon }) => (
        <Link
          key={to}
          to={to}
          className={classes["place"] ?? ""}
          data-here={(!isOpen && isAt(path, to)) || undefined}
          aria-label={short === undefined ? undefined : label}
          onClick={onGo}
        >
          <Icon name={icon} />
          {short ?? label}
        </Link>
      ))}
      <UnstyledButton
        className={classes["place"] ?? ""}
        aria-expanded={isOpen}
        data-here={isOpen || undefined}
        onClick={onToggle}
      >
        <Icon name="more" />
        {strings.navigation.more}
      </UnstyledButton>
    </nav>
  );
}
