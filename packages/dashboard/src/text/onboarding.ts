/** Texts of the steps to the first proof, and of the moment when it comes. */
export const onboarding = {
  heading: (done: number, isProven: boolean) =>
    `${isProven ? "From one proof to all" : "Get to your first proof"}: ${done} of 7 steps done`,
  done: ", done",
  hide: "Hide these steps",
  hidden: "The steps are hidden.",
  attach: "Attach an agent",
  command: "Command to run on the agent's host",
  schedule: (source: string) => `Set a schedule for ${source}`,
  onHost: "On the agent's host:",
  orOnHost: "Or on the agent's host:",
  orHere: "Or here in the browser, once the host allows it:",
  underWay: "Under way.",
  follow: (source: string) => `Follow it on the page of ${source}`,
  mustRun: "If it does not begin within some seconds, the agent does not run. Start it on its host:",
  wentWrong: "The last run failed. The source's page says why.",
  steps: {
    attach: {
      what: "Attach an agent",
      why: "An agent runs on the host that has the data. It makes backups there, encrypts them, and restores them.",
    },
    declare: {
      what: "Add a source",
      why: "Say what to back up: a database or a directory. The agent tries to reach it, and proposes checks.",
    },
    run: {
      what: "Start the agent",
      why: "The agent must run to do what you ask for here, and what is scheduled. On its host, start it and leave it running:",
    },
    back_up: {
      what: "Make the first backup",
      why: "The agent dumps the data, encrypts it and uploads it. The service cannot read it.",
    },
    prove: {
      what: "Prove that it restores",
      why: "The agent downloads the backup, restores it in a throw-away place, runs the checks, and signs what it found.",
    },
    schedule: {
      what: "Have it done every day",
      why: "Set when backups are made and restored. Attestore tells you if one does not happen.",
    },
    kit: {
      what: "Make a recovery kit",
      why: "If the agent's host is lost, the key that decrypts its backups is lost too. Print a recovery kit on that host:",
    },
  },
  first: {
    heading: "Your first proof",
    text: (source: string) =>
      `A backup of ${source} was restored, and every check held. The agent signed it, and the log has it. Most people who make backups never get this far.`,
    receipt: "See the receipt",
    goOn: "Go on",
  },
} as const;
