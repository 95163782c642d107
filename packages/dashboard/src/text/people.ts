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
  onlyManagers: "Only owners and admins may do this",
  banner: {
    label: "Impersonation",
    acting: (operator: string, user: string) => `${operator}, you act as ${user}.`,
    logged: "Every call is written to this organisation's log.",
    end: "End impersonation",
  },
  reader: {
    label: "Auditor's link",
    shows: (name: string, from: string, to: string) => `${name}: records from ${from} until ${to}, to read.`,
    until: (at: string) => `The link ends on ${at}.`,
    end: "Close",
  },
} as const;
