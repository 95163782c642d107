export const evidence = {
  title: "Evidence",
  lead: "One file with all that can be shown of a period: each scheduled test, passed, failed and missed, with receipts and proofs, and what is not proven.",
  period: {
    title: "Period",
    presets: "Choose a period",
    month: "Last 30 days",
    quarter: "This quarter",
    lastQuarter: "Last quarter",
    year: "This year",
    from: "From",
    to: "Up to and including",
    zone: "Days are of UTC. A pack covers 400 days at most.",
    wrong: "This is no period: the last day is before the first one, or it is longer than 400 days.",
    future: "The period begins in the future: there is nothing to show of it yet.",
    download: "Download the evidence (ZIP)",
    building: "A pack of a year can take a while: it is made while it is downloaded.",
  },
  inside: {
    title: "What is in it",
    list: [
      "a summary to read in any browser, and what is not proven, first",
      "every scheduled backup and restore test of the period: passed, failed and missed",
      "receipts with their proofs, and the log's entries and checkpoint that they are proven against",
      "public keys and since when they hold, schedules, retention and objectives as they were in force",
      "which controls it speaks to: SOC 2, ISO 27001, NIS2, DORA, HIPAA",
    ],
  },
  check: {
    title: "Check it without us",
    text: "The verifier checks every leaf and number of it offline, with this service gone. Give it the log's key and each agent's key from the hosts: without them it cannot tell, as whoever runs the service could have made those in the pack.",
    command: "attestore-verify",
  },
} as const;
