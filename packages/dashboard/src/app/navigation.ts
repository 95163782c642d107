import type { Role } from "../api/session.ts";
import type { IconName } from "../parts/marks/icon.tsx";
import { apiLogText } from "../text/api-logs.ts";
import { backups } from "../text/backups.ts";
import { commandText } from "../text/commands.ts";
import { eventText, logText } from "../text/log.ts";
import { passkeys } from "../text/passkeys.ts";
import { people } from "../text/people.ts";
import { receipts } from "../text/receipts.ts";
import { sourceText } from "../text/sources.ts";
import { strings } from "../text/strings.ts";

/** Who sees a page in the navigation; by default, members of the organisation. */
const MEMBERS: readonly Role[] = ["owner", "admin", "auditor"];
const MANAGERS: readonly Role[] = ["owner", "admin"];
const OPERATORS: readonly Role[] = ["operator"];
/** Readers with an auditor link too. */
export const WITH_READERS: readonly Role[] = [...MEMBERS, "reader"];

interface Place {
  to: string;
  label: string;
  /** Its first word, where the label has no room. */
  short?: string;
  icon: IconName;
  for: readonly Role[];
}

const { groups, home } = strings.navigation;

/** The dashboard's pages, in groups; a group without a title stands above the others. */
const GROUPS: readonly { title: string | null; places: readonly Place[] }[] = [
  { title: null, places: [{ to: "/", label: home, icon: "home", for: MEMBERS }] },
  {
    title: groups.protect,
    places: [
      { to: "/sources", label: sourceText.list.title, icon: "sources", for: WITH_READERS },
      { to: "/backups", label: backups.navigation, icon: "backups", for: WITH_READERS },
      { to: "/agents", label: people.navigation.agents, icon: "agents", for: WITH_READERS },
    ],
  },
  {
    title: groups.prove,
    places: [
      { to: "/receipts", label: receipts.navigation, icon: "receipts", for: WITH_READERS },
      { to: "/evidence", label: people.navigation.evidence, icon: "evidence", for: WITH_READERS },
      { to: "/log", label: logText.navigation, icon: "log", for: WITH_READERS },
      { to: "/auditor-links", label: people.navigation.auditorLinks, icon: "auditor", for: MANAGERS },
    ],
  },
  {
    title: groups.activity,
    places: [
      { to: "/events", label: eventText.navigation, icon: "events", for: WITH_READERS },
      { to: "/commands", label: commandText.title, icon: "jobs", for: MEMBERS },
      { to: "/api-logs", label: apiLogText.title, icon: "calls", for: MEMBERS },
    ],
  },
  {
    title: groups.settings,
    places: [
      { to: "/settings", label: people.navigation.settings, icon: "settings", for: MEMBERS },
      { to: "/members", label: people.navigation.members, icon: "members", for: MEMBERS },
      { to: "/notifications", label: people.navigation.notifications, icon: "notifications", for: MEMBERS },
      { to: "/auth-keys", label: people.navigation.authKeys, icon: "keys", for: MEMBERS },
    ],
  },
  {
    title: null,
    places: [
      { to: "/operator", label: people.navigation.operator, icon: "organisation", for: OPERATORS },
      // Members reach these from the agents page and from their own menu.
      {
        to: "/attach",
        label: people.navigation.attach,
        short: people.navigation.attachShort,
        icon: "attach",
        for: OPERATORS,
      },
      { to: "/passkeys", label: passkeys.title, icon: "passkeys", for: OPERATORS },
    ],
  },
];

export type Destination = Place;

/** The groups that a role sees, without those of which it sees nothing. */
export function groupsFor(role: Role): readonly { title: string | null; places: readonly Place[] }[] {
  return GROUPS.map(({ title, places }) => ({
    title,
    places: places.filter((place) => place.for.includes(role)),
  })).filter(({ places }) => places.length > 0);
}

/** The pages that a phone's bottom bar offers beside the whole navigation. */
const FIRST = ["/", "/sources", "/receipts"];
const SHOWN = 3;

/** At most three. */
export function firstPlacesFor(role: Role): readonly Place[] {
  const places = groupsFor(role).flatMap((group) => group.places);
  const first = places.filter(({ to }) => FIRST.includes(to));
  return [...first, ...places.filter((place) => !first.includes(place))].slice(0, SHOWN);
}

export function isAt(path: string, to: string): boolean {
  return to === "/" ? path === "/" : path === to || path.startsWith(`${to}/`);
}
