import { VisuallyHidden } from "@mantine/core";
import { Link, useRouterState } from "@tanstack/react-router";
import { useId } from "react";
import { useMe } from "../api/session.ts";
import { Icon } from "../parts/marks/icon.tsx";
import { type Destination, groupsFor, isAt } from "./navigation.ts";
import classes from "./sidebar.module.css";
import { type Count, useCounts } from "./use-counts.ts";

/** The whole navigation, in groups with counts. */
export function Sidebar({ onGo }: { onGo: () => void }) {
  const counts = useCounts();
  return groupsFor(useMe().user.role).map(({ title, places }, index) => (
    <Group key={title ?? index} title={title}>
      {places.map((place) => (
        <li key={place.to}>
          <PlaceLink place={place} count={counts[place.to]} onGo={onGo} />
        </li>
      ))}
    </Group>
  ));
}

function Group({ title, children }: { title: string | null; children: React.ReactNode }) {
  const id = useId();
  if (title === null) return <ul className={classes["places"]}>{children}</ul>;
  return (
    <div className={classes["group"]}>
      <div className={classes["title"]} id={id}>
        {title}
      </div>
      <ul className={classes["places"]} aria-labelledby={id}>
        {children}
      </ul>
    </div>
  );
}

function PlaceLink({
  place,
  count,
  onGo,
}: {
  place: Destination;
  count: Count | undefined;
  onGo: () => void;
}) {
  const path = useRouterState({ select: (state) => state.location.pathname });
  const isHere = isAt(path, place.to);
  return (
    <Link
      to={place.to}
      className={classes["place"]}
      aria-current={isHere ? "page" : undefined}
      onClick={onGo}
    >
      <Icon name={place.icon} />
      <span className={classes["label"]}>{place.label}</span>
      {count && <CountMark count={count} />}
    </Link>
  );
}

function CountMark({ count: { shown, label, isTrouble } }: { count: Count }) {
  return (
    <span className={classes["count"]} data-trouble={isTrouble || undefined} title={label}>
      <span aria-hidden="true">{shown}</span>
      <VisuallyHidden>{`, ${label}`}</VisuallyHidden>
    </span>
  );
}
