/** Words that the pages about people and machines have in common. */
export const people = {
  navigation: {
    agents: "Agents",
    attach: "Attach an agent",
    authKeys: "Auth keys",
    members: "Members",
    auditorLinks: "Auditors' links",
    settings: "Settings",
    operator: "Organisations",
    notifications: "Notifications",
    evidence: "Evidence",
  },
  onlyManagers: "Only owners and admins may do this, and no operator who acts as one",
  banner: {
    label: "Impersonation",
    acting: (user: string) => `You act as ${user}, to read only.`,
    logged: (operator: string) =>
      `You are signed in as ${operator}, and every call is written to this organisation's log.`,
    end: "End impersonation",
  },
  reader: {
    label: "Auditor's link",
    shows: (name: string, period: string) => `${name}: the records ${period}, to read and to verify.`,
    days: (first: string, last: string) => `of ${first} to ${last} (UTC)`,
    moments: (from: string, to: string) => `from ${from} until ${to}`,
    until: (at: string) => `The link ends on ${at}.`,
    end: "Close",
  },
} as const;
