export const settings = {
  title: "Settings",
  lead: "What is set for the organisation as a whole.",
  name: {
    title: "Name",
    label: "Name of the organisation",
    save: "Save the name",
    saved: "Saved.",
  },
  log: {
    title: "Transparency log",
    explanation:
      "The log holds hashes: whoever reads it learns how many receipts and events there are and that none was changed, not what the checks saw. Shown to everybody, anybody can watch over it.",
    label: "Show the log to everybody",
    address: "Address of the log",
    showTitle: "Show the log to everybody?",
    show: "Show the log",
    showText:
      "Anybody who knows the address can read the log's hashes from this moment on. What they copied stays with them.",
    hideTitle: "Hide the log from others?",
    hide: "Hide the log",
    hideText: "Only your agents and members read it then. Who copied it keeps the copy.",
  },
  facts: { title: "Identifiers", id: "Organisation", slug: "Short name", created: "Since" },
  session: {
    title: "Your session",
    email: "Signed in as",
    role: "Role",
    signOut: "Sign out",
  },
} as const;
