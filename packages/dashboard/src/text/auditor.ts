import { plural } from "./format.ts";

export const auditor = {
  title: "Auditors' links",
  lead: "A link shows the receipts, backups, events and agents of one period to whoever has it, to read and to verify. Without an account, until it ends or you revoke it.",
  empty: "No link was made yet.",
  make: {
    action: "Make a link",
    title: "Make an auditor's link",
    name: "Who or what it is for",
    namePlaceholder: "SOC 2 audit 2026",
    from: "Records from",
    to: "Records up to and including",
    zone: "Days are of UTC.",
    lives: "The link works for",
    lifetimes: { day: "1 day", week: "7 days", fortnight: "14 days", month: "30 days", quarter: "90 days" },
    send: "Make the link",
    backwards: "The last day is before the first one.",
  },
  made: {
    title: "The link is made",
    link: "The link",
    shownOnce:
      "This is the only time that the link is shown. Whoever has it can read: send it as you would send a password.",
    copy: "Copy the link",
    noted: "Done",
  },
  column: {
    name: "Link",
    period: "Period (UTC)",
    state: "State",
    expires: "Ends",
    openings: "Opened",
    action: "Action",
  },
  period: (from: string, to: string) => `${from} to ${to}`,
  state: { live: "works", revoked: "revoked", over: "over" },
  openings: (count: number) => plural(count, "time"),
  last: "last",
  revoke: {
    action: "Revoke",
    of: (name: string) => `Revoke ${name}`,
    title: (name: string) => `Revoke the link ${name}?`,
    goes: "It opens nothing any more, and who opened it is signed out at once.",
    stays: "What they have downloaded stays with them. That it was opened stays in the log.",
    already: "It is revoked already",
    over: "Its time is over already",
  },
  shared: {
    title: "An auditor's link",
    explanation:
      "It shows what an organisation's backups proved in one period: to read, and to verify for yourself. Opening it is written to the organisation's log.",
    replaces: (who: string) =>
      `You are signed in as ${who}. Opening the link signs you out of that in this browser.`,
    open: "Open",
    none: "There is nothing to open: the link is not whole. Copy all of it, up to its last character.",
    home: "Sign in",
  },
} as const;
