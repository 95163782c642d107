import { plural } from "./format.ts";

export const auditor = {
  title: "Auditor access",
  lead: "Anybody with the link can read and verify the receipts, backups, events and agents of one period, without an account, until it expires or you revoke it.",
  empty: "No links yet.",
  make: {
    action: "Make a link",
    title: "Make an auditor link",
    name: "Who or what it is for",
    namePlaceholder: "SOC 2 audit 2026",
    from: "Records from",
    to: "Records up to and including",
    zone: "Days are in UTC.",
    lives: "The link works for",
    lifetimes: { day: "1 day", week: "7 days", fortnight: "14 days", month: "30 days", quarter: "90 days" },
    send: "Make the link",
    backwards: "The last day is before the first day.",
  },
  made: {
    title: "Your new auditor link",
    link: "The link",
    shownOnce:
      "The link is shown only once. Anybody who has it can read the records, so send it as you would send a password.",
    copy: "Copy the link",
    noted: "Done",
  },
  column: {
    name: "Link",
    period: "Period (UTC)",
    state: "State",
    expires: "Expires",
    openings: "Opened",
    action: "Action",
  },
  period: (from: string, to: string) => `${from} to ${to}`,
  state: { live: "works", revoked: "revoked", over: "expired" },
  openings: (count: number) => plural(count, "time"),
  last: "last",
  revoke: {
    action: "Revoke",
    of: (name: string) => `Revoke ${name}`,
    title: (name: string) => `Revoke the link ${name}?`,
    goes: "It stops working, and everybody who opened it is signed out immediately.",
    stays: "Downloads stay with whoever made them. The log keeps when the link was opened.",
    already: "It is already revoked",
    over: "It has already expired",
  },
  shared: {
    title: "An auditor link",
    explanation:
      "This link shows what an organisation's backups proved in one period. You can read it and verify it yourself. The organisation's log records that you open it.",
    replaces: (who: string) => `You are signed in as ${who}. Opening the link signs you out in this browser.`,
    open: "Open",
    none: "The link is incomplete. Copy all of it, up to the last character.",
    home: "Sign in",
  },
} as const;
