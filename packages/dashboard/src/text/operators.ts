export const operators = {
  title: "Organisations",
  lead: "All organisations of this service. Only its own members can see inside one. To help a member, act as them; their log records it.",
  create: {
    action: "Create an organisation",
    title: "Create an organisation",
    name: "Name",
    owner: "E-mail address of its owner (optional)",
    ownerHint: "We mail them how to sign in.",
    send: "Create",
  },
  empty: "There are no organisations yet.",
  column: { name: "Organisation", slug: "Short name", log: "Log", since: "Since" },
  log: { public: "public", private: "private" },
  detail: {
    lead: "Its quotas and members. Choose somebody to act as.",
    back: "All organisations",
    person: "Person",
    email: "E-mail",
    role: "Role",
    action: "Action",
    empty: "It has no members. The first owner is invited when the organisation is created.",
    id: "Identifier",
  },
  impersonate: {
    action: "Act as",
    of: (who: string) => `Act as ${who}`,
    title: (who: string) => `Act as ${who}?`,
    explanation:
      "You can read for an hour at most. You cannot change anything or make keys. Each call you make is written to the organisation's log before it is answered, with your name and this reason.",
    reason: "Reason",
    reasonHint:
      "The organisation can read it permanently. For example: ticket 4711, restore test looks wrong",
    start: (who: string) => `Act as ${who}`,
  },
} as const;
