import type { Role } from "../api/session.ts";
import { backups } from "../text/backups.ts";
import { eventText, logText } from "../text/log.ts";
import { apiLogText } from "../text/api-logs.ts";
import { commandText } from "../text/commands.ts";
import { passkeys } from "../text/passkeys.ts";
import { people } from "../text/people.ts";
import { receipts } from "../text/receipts.ts";
import { sourceText } from "../text/sources.ts";
import { strings } from "../text/strings.ts";

/** Who sees a page in the navigation; by default, members of the organisation. */
const MEMBERS: readonly Role[] = ["owner", "admin", "auditor"];
const MANAGERS: readonly Role[] = ["owner", "admin"];
/** Everybody with an account. */
const PEOPLE: readonly Role[] = [...MEMBERS, "operator"];
const OPERATORS: readonly Role[] = ["operator"];
/** Readers with an auditor link too. */
export const WITH_READERS: readonly Role[] = [...MEMBERS, "reader"];

/** The dashboard's pages, in navigation order. */
export const NAVIGATION = [
  { to: "/", label: strings.navigation.home },
  { to: "/sources", label: sourceText.list.title, for: WITH_READERS },
  { to: "/receipts", label: receipts.navigation, for: WITH_READERS },
  { to: "/backups", label: backups.navigation, for: WITH_READERS },
  { to: "/events", label: eventText.navigation, for: WITH_READERS },
  { to: "/log", label: logText.navigation, for: WITH_READERS },
  { to: "/evidence", label: people.navigation.evidence, for: WITH_READERS },
  { to: "/agents", label: people.navigation.agents, for: WITH_READERS },
  { to: "/commands", label: commandText.title },
  { to: "/notifications", label: people.navigation.notifications },
  { to: "/auth-keys", label: people.navigation.authKeys },
  { to: "/members", label: people.navigation.members },
  { to: "/auditor-links", label: people.navigation.auditorLinks, for: MANAGERS },
  { to: "/api-logs", label: apiLogText.title },
  { to: "/settings", label: people.navigation.settings },
  { to: "/operator", label: people.navigation.operator, for: OPERATORS },
  // Members reach it from the agents page.
  { to: "/attach", label: people.navigation.attach, for: OPERATORS },
  { to: "/passkeys", label: passkeys.title, for: PEOPLE },
] as const;

export type Destination = (typeof NAVIGATION)[number];

export function destinationsFor(role: Role): readonly Destination[] {
  return NAVIGATION.filter((destination) =>
    ("for" in destination ? destination.for : MEMBERS).includes(role),
  );
}
