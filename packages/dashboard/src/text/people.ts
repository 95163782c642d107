/** Texts shared by the pages about people and hosts. */
export const people = {
  navigation: {
    agents: "Agents",
    attach: "Attach an agent",
    attachShort: "Attach",
    authKeys: "Auth keys",
    members: "Members",
    auditorLinks: "Auditor access",
    settings: "Settings",
    operator: "Organisations",
    notifications: "Notifications",
    evidence: "Evidence",
  },
  onlyManagers: "Only owners and admins can do this, not operators acting as one",
  banner: {
    label: "Impersonation",
    acting: (user: string) => `You are acting as ${user}, read-only.`,
    logged: (operator: string) =>
      `You are signed in as ${operator}, and every call is written to this organisation's log.`,
    end: "End impersonation",
  },
  reader: {
    label: "Auditor link",
    shows: (name: string, period: string) => `${name}: records ${period}, to read and verify.`,
    days: (first: string, last: string) => `of ${first} to ${last} (UTC)`,
    moments: (from: string, to: string) => `from ${from} until ${to}`,
    until: (at: string) => `The link expires on ${at}.`,
    end: "Close",
  },
} as const;
