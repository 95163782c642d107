import type { Command } from "../invocation/command.ts";

/** Setting up a host and its sources. */
export const SET_UP: readonly Command[] = [
  {
    name: "init",
    summary: "create a root, and attach this host to an organisation or set it up standalone",
    flags: [
      ...(["service", "caFile", "caSha256", "authKeyFile", "name", "recipient"] as const),
      "allowRemoteConfig",
      ...(["standalone", "storage", "s3Endpoint", "s3Region", "json", "root", "quiet", "verbose"] as const),
    ],
    makesRoot: true,
    examples: [
      [
        "attestore init --service https://backup.example.org:8443 --ca-sha256 HEX",
        "attach this host to an organisation; a page of the service approves it",
      ],
      [
        "attestore init --service https://backup.example.org:8443 --auth-key-file key --name db1",
        "the same with an auth key, without a page",
      ],
      ["attestore init --standalone --storage s3://backups/db1", "work without a service"],
    ],
    page: "agent.md#attach",
    load: async () => (await import("../init.ts")).init,
  },
  {
    name: "source add",
    summary: "add a source: try it, propose checks, show the change to config.yaml, and write it",
    flags: [
      ...(["engine", "connection", "path", "databases", "globals", "pattern"] as const),
      ...([
        "repository",
        "passwordFrom",
        "probe",
        "checks",
        "template",
        "tablePrefix",
        "yes",
        "json",
        "root",
        "quiet",
        "verbose",
      ] as const),
    ],
    words: [{ form: "[name]", about: "its name: up to 63 characters of a-z 0-9 - _" }],
    examples: [
      ["attestore source add", "ask for everything"],
      ["attestore source add shop --engine postgresql --connection service:shop", "ask only what is missing"],
      ["attestore source add site --engine files --path /srv/www --yes", "ask nothing"],
    ],
    page: "agent.md#sources",
    load: async () => (await import("../source/source-add.ts")).sourceAdd,
  },
  {
    name: "source list",
    summary: "list the sources in config.yaml",
    flags: ["json", "root", "quiet", "verbose"],
    examples: [["attestore source list --json", "for a program"]],
    page: "agent.md#sources",
    load: async () => (await import("../source/source-list.ts")).sourceList,
  },
  {
    name: "source remove",
    summary: "stop backing up a source; its backups and receipts stay",
    flags: ["yes", "json", "root", "quiet", "verbose"],
    words: [{ form: "<name>", about: "a source in config.yaml" }],
    examples: [["attestore source remove shop", "show the change to config.yaml, and ask"]],
    page: "agent.md#sources",
    load: async () => (await import("../source/source-remove.ts")).sourceRemove,
  },
  {
    name: "source confirm",
    summary: "confirm that a source is now another database, for example after a restore",
    flags: ["yes", "json", "root", "quiet", "verbose"],
    words: [{ form: "<name>", about: "a source in config.yaml" }],
    examples: [["attestore source confirm shop", "the server was replaced, or restored from a backup"]],
    page: "agent.md#which-database-a-source-is",
    load: async () => (await import("../source/source-confirm.ts")).sourceConfirm,
  },
  {
    name: "remote-config",
    summary: "let owners and admins add sources and checks in the dashboard, or end that",
    flags: ["json", "root", "quiet", "verbose"],
    words: [
      { form: "[show|on|off]", about: "show by default" },
      { form: "[directories...]", about: "with on: files below these may be picked too" },
    ],
    examples: [
      ["attestore remote-config on", "let them add databases and checks"],
      ["attestore remote-config on /srv/shop", "and SQLite databases and files below this directory"],
      ["attestore remote-config off", "end it at once"],
    ],
    page: "agent.md#sources-and-checks-from-the-dashboard",
    load: async () => (await import("../remote-config/remote-config.ts")).remoteConfig,
  },
  {
    name: "doctor",
    summary: "look for problems in this installation, and say how to fix them",
    flags: ["json", "root", "quiet", "verbose"],
    examples: [["attestore doctor", "the first thing to run if something does not work"]],
    page: "troubleshooting.md",
    load: async () => (await import("../doctor/doctor.ts")).doctor,
  },
];
