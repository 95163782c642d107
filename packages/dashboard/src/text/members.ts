export const members = {
  title: "Members",
  lead: "Who belongs to the organisation, and what each may do.",
  invite: {
    action: "Invite",
    title: "Invite somebody",
    email: "E-mail address",
    name: "Name (optional)",
    role: "Role",
    send: "Send the invitation",
    explanation:
      "They are mailed how to sign in: with this address and a code, without a password. They are no member until they accept, by signing in or, where they belong to another organisation, in its settings, where they can decline, too. The invitation ends after 7 days.",
  },
  column: { person: "Person", email: "E-mail", role: "Role", since: "Since", action: "Action" },
  you: "you",
  pending: "invited, has not accepted",
  expired: "invitation expired: withdraw it, or invite them again",
  roles: {
    owner: "Owner",
    admin: "Admin",
    auditor: "Auditor",
  },
  rolesExplained: {
    owner: "does everything, and alone makes, changes and removes owners",
    admin: "does everything but that",
    auditor: "reads everything, changes nothing",
  },
  meaning: "What the roles may do",
  roleOf: (who: string) => `Role of ${who}`,
  change: {
    title: (who: string) => `Change the role of ${who}?`,
    text: (who: string, from: string, to: string) =>
      `${who} is ${from} and becomes ${to}, from this moment on.`,
    confirm: (who: string, to: string) => `Make ${who} ${to}`,
    own: "You change your own role: you may not be able to take it back.",
  },
  remove: {
    action: "Remove",
    of: (who: string) => `Remove ${who}`,
    title: (who: string) => `Remove ${who}?`,
    goes: "They are signed out everywhere at once and cannot sign in to this organisation any more.",
    stays: "What they did stays in the log. They can be invited again.",
    leave: "This is you: you leave the organisation, and are signed out.",
  },
  withdraw: {
    action: "Withdraw",
    of: (who: string) => `Withdraw the invitation of ${who}`,
    title: (who: string) => `Withdraw the invitation of ${who}?`,
    goes: "They cannot accept it any more.",
    stays: "They can be invited again.",
  },
  lastOwner: "The last owner stays: make somebody else an owner first",
  onlyOwners: "Only owners make, change or remove owners",
} as const;
