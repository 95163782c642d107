export const evidence = {
  title: "Evidence",
  lead: "One file with all the evidence of a period: every scheduled test (passed, failed or missed), its receipts and proofs, and everything that is not proven.",
  period: {
    title: "Period",
    presets: "Choose a period",
    month: "Last 30 days",
    quarter: "This quarter",
    lastQuarter: "Last quarter",
    year: "This year",
    from: "From",
    to: "Up to and including",
    zone: "Days are in UTC. A pack covers at most 400 days.",
    wrong:
      "Choose a valid period: the last day cannot be before the first, and it can be at most 400 days long.",
    future: "The period starts in the future, so there is no evidence of it yet.",
    download: "Download the evidence (ZIP)",
    building: "A pack of a year can take a while. It is built as you download it.",
  },
  inside: {
    title: "What is in it",
    list: [
      "a summary for any browser, which begins with what is not proven",
      "every scheduled backup and restore test of the period: passed, failed or missed",
      "receipts with their proofs, and the log entries and checkpoint that prove them",
      "public keys and when they became valid; the schedules, retention rules and objectives of that time",
      "the controls it supports: SOC 2, ISO 27001, NIS2, DORA, HIPAA",
    ],
  },
  check: {
    title: "Check it without us",
    text: "The verifier checks every leaf and every number offline, even if this service is gone. Give it the log's key and each agent's key, from the hosts. Without them it cannot tell, because whoever runs the service could have made the keys in the pack.",
    command: "attestore-verify",
  },
} as const;
