import { engines } from "./engines.ts";
/** Of the names of sources and checks in config.yaml. */
export const nameForm = {
  hint: "Up to 63 characters of a-z, 0-9, - and _",
  wrong: "Use a-z, 0-9, - and _, beginning with a letter or digit.",
  adding: "The agent writes config.yaml…",
} as const;

export const addSource = {
  title: "Add a source",
  lead: "The agent on the host does everything here: it finds the data, tries it and keeps the passwords.",
  open: "Add a source",
  onlyManagers: "Only owners and admins can add a source.",
  steps: {
    engine: "1. What do you want to back up?",
    host: "2. On which host?",
    database: "3. Which database?",
    file: "3. Which one?",
    test: "4. Test the connection",
    name: "5. Name and schedule",
  },
  engines,
  onHost: (engine: string) =>
    `${engine}: such a source needs an address, a password or a pattern of file names. The dashboard never asks for these, because whoever gets into it could then send the agent anywhere. Add it on the host; this asks for them, tries them and proposes checks:`,
  onHostCommand: "Command that adds this source on the host",
  host: {
    label: "Host",
    choose: "Choose one",
    none: "No agent is attached yet.",
    attach: "Attach an agent",
    offline: (name: string) =>
      `${name} has not been heard from for a while. Start its agent: what you ask waits for it, 15 minutes at most.`,
    off: (name: string, hostname: string) =>
      `${name} does not allow this yet. Run this on ${hostname}; this page then goes on by itself:`,
    offLabel: "Command that lets the dashboard add sources",
    offWhy:
      "Only the host can allow it: nobody in the dashboard, and not the service. Owners and admins can then add sources and checks, and change nothing else. The same command with off ends it.",
  },
  database: {
    look: "Find databases",
    lookBelow: "Look into the directories that the host allows",
    again: "Look again",
    looking: "The agent looks for databases on its host…",
    none: (engine: string) =>
      `The agent found no ${engine} server on this host: neither at its usual socket, nor as the server of a source in config.yaml.`,
    noDirectory:
      "The host has not said in which directories you may choose. Run this there, with the directory that has the data in place of /srv/data, then look again:",
    nothing: "There is nothing to choose in this directory, or the agent's user may not see it.",
    whole: "the whole directory",
    below: (directory: string) => `In ${directory}`,
    allowLabel: "Command that allows a directory",
    refused: "The server refused the agent:",
    noClient: "A program is missing on the host:",
    empty: "The agent may open no database of this server.",
    taken: (source: string) => `backed up as ${source}`,
    label: (server: string) => `Databases: ${server}`,
    grantPostgresql: "Let the agent read every database of this server, on the host:",
    grantMariadb: "Let the agent read every database of this server, in its mariadb client on the host:",
    grantLabel: "Commands that let the agent read",
  },
  test: {
    explain: "The agent starts a backup and stops it at its first byte. Nothing is stored.",
    start: "Test the connection",
    running: "The agent starts a backup and stops it…",
    works: (version: string, tables: number | null) =>
      tables === null
        ? `The agent can read it: ${version}.`
        : `The agent can read it: ${version}, ${tables === 1 ? "1 table" : `${tables} tables`}.`,
    checks: "Checks that each restore test runs, besides the built-in ones",
    noChecks: "The agent proposes no checks. The built-in ones run in each restore test.",
    notProposed: "Not proposed",
  },
  name: {
    label: "Name",
    schedule: "Schedule",
    zone: (zone: string) => `Times are in ${zone}. You can change them later on the source's page.`,
    schedules: {
      daily: "Backup every night, restore test every Sunday",
      hourly: "Backup every hour, restore test every night",
      none: "None yet",
    },
    add: "Add the source",
    added: (name: string) => `${name} was added.`,
    unscheduled: (name: string) => `${name} was added, but not its schedule. Set it on the source's page.`,
    waits: (name: string) => `${name} was added. It appears here with the agent's next heartbeat.`,
  },
  silent:
    "The agent did not fetch the request. Is it running on the host (attestore run)? Ask again once it is.",
  refused: "The host did not do it",
} as const;
