import type { Command } from "../invocation/command.ts";

/** Backups, and whether they restore. */
export const BACK_UP_AND_PROVE: readonly Command[] = [
  {
    name: "backup",
    summary: "back up a source, encrypted, and add a signed receipt to the log",
    flags: ["source", "maxRate", "wait", "json", "root", "quiet", "verbose"],
    examples: [
      ["attestore backup", "back up the only source, or `defaults.source`"],
      ["attestore backup --source shop --max-rate 20MB", "leave bandwidth to others"],
    ],
    page: "agent.md#commands",
    load: async () => (await import("../backup/backup.ts")).backup,
  },
  {
    name: "restore-test",
    summary: "restore a backup into a sandbox, run the checks, and sign the result",
    flags: ["source", "backup", "wait", "json", "root", "quiet", "verbose"],
    examples: [
      ["attestore restore-test --source shop", "prove that the newest backup restores"],
      ["attestore restore-test --source shop --backup bkp_01k…", "test an older one"],
    ],
    page: "checks.md",
    load: async () => (await import("../restore-test/restore-test.ts")).restoreTest,
  },
  {
    name: "restore",
    summary: "decrypt a backup to a file or to stdout, or restore it into a database",
    flags: [
      "source",
      "backup",
      "file",
      "output",
      "into",
      "server",
      "nonEmpty",
      "engine",
      "identity",
      "wait",
      "json",
      "root",
      "quiet",
      "verbose",
    ],
    examples: [
      [
        "attestore restore --source shop --output shop.dump",
        "write the newest backup's dump to a file, which appears once all of it is authenticated",
      ],
      [
        "attestore restore --source shop --output - | pg_restore --exit-on-error --dbname=copy",
        "pass it on; unless it ends with 0, the copy must not be used",
      ],
      [
        "attestore restore --source shop --into shop_restored",
        "into a new database beside the source; nothing that exists is replaced",
      ],
      [
        "attestore restore --source shop --into shop --server env:NEW_SERVER_URL",
        "into another server, after the old one died",
      ],
      [
        "attestore restore --file shop.age --identity age.key --output shop.dump",
        "without a root and a service",
      ],
    ],
    page: "recover.md#restore-into-a-running-server",
    load: async () => (await import("../restore/restore.ts")).restore,
  },
  {
    name: "status",
    summary: "show what is proven, how old it is, what is wrong and what to do (same as the bare command)",
    flags: ["json", "root", "quiet", "verbose"],
    examples: [
      ["attestore", "the same"],
      ["attestore status --json", "for a program; exit code 1 unless everything is proven"],
    ],
    page: "agent.md#commands",
    load: async () => (await import("../status/status.ts")).status,
  },
  {
    name: "run",
    summary: "run as a service: send heartbeats, run commands, submit receipts, watch the log",
    flags: ["maxRate", "root", "quiet", "verbose"],
    examples: [["attestore run", "what the service unit runs; systemctl status attestore shows it"]],
    page: "agent.md#attach",
    load: async () => (await import("../run/run-agent.ts")).runAgent,
  },
];
