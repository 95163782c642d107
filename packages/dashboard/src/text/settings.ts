export const settings = {
  title: "Settings",
  lead: "Settings for the whole organisation.",
  name: {
    title: "Name",
    label: "Name of the organisation",
    save: "Save the name",
    done: (name: string) => `The organisation is now called ${name}.`,
  },
  log: {
    title: "Transparency log",
    explanation:
      "The log contains only hashes. Its readers learn how many receipts and events there are and that none was changed, but not what the checks saw. If the log is public, anybody can monitor it.",
    label: "Public",
    address: "Address of the log",
    showTitle: "Make the log public?",
    show: "Make it public",
    showText:
      "From now on anybody who knows the address can read the log's hashes. Copies they make stay with them.",
    hideTitle: "Make the log private?",
    hide: "Make it private",
    hideText:
      "Only your agents and members will be able to read it. Existing copies stay with whoever made them.",
  },
  facts: { title: "Identifiers", id: "Organisation", slug: "Short name", created: "Since" },
  session: {
    title: "Your session",
    email: "Signed in as",
    role: "Role",
    signOut: "Sign out",
  },
} as const;
