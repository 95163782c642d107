/** Of the names of sources and checks in config.yaml. */
export const nameForm = {
  hint: "Up to 63 characters of a-z, 0-9, - and _",
  wrong: "Use a-z, 0-9, - and _, beginning with a letter or digit.",
  adding: "The agent writes config.yaml…",
} as const;

export const addSource = {
  title: "Add a source",
  lead: "The agent on the host does everything here: it finds the databases, tries them and keeps their passwords.",
  open: "Add a source",
  onlyManagers: "Only owners and admins can add a source.",
  steps: {
    engine: "1. What do you want to back up?",
    host: "2. On which host?",
    database: "3. Which database?",
    test: "4. Test the connection",
    name: "5. Name and schedule",
  },
  engines: {
    postgresql: "PostgreSQL",
    mariadb: "MariaDB",
    mysql: "MySQL",
    sqlite: "SQLite",
    files: "Files",
    mongodb: "MongoDB",
    dumps: "Dumps of other programs",
    restic: "restic repository",
  },
  onHost: {
    path: (engine: string) =>
      `${engine}: this kind of source is a path on the host. The dashboard cannot name paths, because whoever gets into it could then have the agent read any file. Add it on the host; this asks for the path and proposes checks:`,
    address: (engine: string) =>
      `${engine}: this kind of source needs an address, and often a password, that only its host knows. The dashboard never asks for either. Add it on the host; this asks for them and tries them:`,
  },
  onHostCommand: "Command that adds this source on the host",
  host: {
    label: "Host",
    choose: "Choose one",
    none: "No agent is attached yet.",
    attach: "Attach an agent",
    offline: (name: string) =>
      `${name} has not been heard for a while. Start its agent: what you ask waits for it, 15 minutes at most.`,
    off: (name: string, hostname: string) =>
      `${name} does not allow this. Put this line into config.yaml on ${hostname}, in the agent's root (usually /var/lib/attestore). This page goes on by itself.`,
    line: "allow_remote_config: true",
    lineLabel: "Line for config.yaml",
    offWhy:
      "Only the host can allow it: nobody in the dashboard, and not the service. With it, owners and admins can add sources and checks, and change nothing else.",
  },
  database: {
    look: "Find databases",
    again: "Look again",
    looking: "The agent looks for databases on its host…",
    none: (engine: string) =>
      `The agent found no ${engine} server on this host: neither at its usual socket, nor as the server of a source in config.yaml.`,
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
    explain: "The agent starts a backup of the database and stops it at its first byte. Nothing is stored.",
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
