import type { Command } from "./command.ts";

/** Every command, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  {
    name: "init",
    summary: "create a root, and attach this host to an organisation or set it up standalone",
    flags: [
      ...(["service", "caFile", "caSha256", "authKeyFile", "name", "recipient"] as const),
      ...(["standalone", "storage", "s3Endpoint", "s3Region", "json", "root"] as const),
    ],
    makesRoot: true,
    load: async () => (await import("./init.ts")).init,
  },
  {
    name: "backup",
    summary: "back up a source, encrypted, and add a signed receipt to the log",
    flags: ["source", "maxRate", "wait", "json", "root"],
    load: async () => (await import("./backup.ts")).backup,
  },
  {
    name: "restore-test",
    summary: "restore a backup into a throw-away place, run the checks, and sign the result",
    flags: ["source", "backup", "wait", "json", "root"],
    load: async () => (await import("./restore-test.ts")).restoreTest,
  },
  {
    name: "restore",
    summary: "decrypt a backup into a file, which appears only once all of it is authenticated, or to stdout",
    flags: ["source", "backup", "file", "output", "identity", "wait", "json", "root"],
    load: async () => (await import("./restore.ts")).restore,
  },
  {
    name: "run",
    summary: "run as a service: send heartbeats, run commands, submit receipts, watch the log",
    flags: ["maxRate", "root"],
    load: async () => (await import("./run-agent.ts")).runAgent,
  },
  {
    name: "sync",
    summary: "upload and submit everything that is queued for the service, now",
    flags: ["maxRate", "wait", "json", "root"],
    load: async () => (await import("./sync.ts")).sync,
  },
  {
    name: "prune",
    summary: "standalone: remove the backups that no keep rule keeps, but never the newest proven one",
    flags: [
      ...(["keepLast", "keepDays", "keepDaily", "keepWeekly", "keepMonthly", "keepYearly"] as const),
      ...(["source", "dryRun", "yes", "wait", "json", "root"] as const),
    ],
    load: async () => (await import("./prune.ts")).prune,
  },
  {
    name: "status",
    summary: "show what is proven, how old it is, what is wrong and what to do (same as the bare command)",
    flags: ["json", "root"],
    load: async () => (await import("./status.ts")).status,
  },
  {
    name: "doctor",
    summary: "look for problems in this installation, and say how to fix them",
    flags: ["json", "root"],
    load: async () => (await import("./doctor.ts")).doctor,
  },
  {
    name: "source add",
    summary: "add a source: try it, propose checks, show the change to config.yaml, and write it",
    flags: [
      ...(["engine", "connection", "path", "databases", "globals", "pattern"] as const),
      ...(["repository", "passwordFrom", "probe", "checks", "yes", "json", "root"] as const),
    ],
    words: [{ form: "[name]", about: "its name: up to 63 characters of a-z 0-9 - _" }],
    load: async () => (await import("./source-add.ts")).sourceAdd,
  },
  {
    name: "source list",
    summary: "list the sources in config.yaml",
    flags: ["json", "root"],
    load: async () => (await import("./source-list.ts")).sourceList,
  },
  {
    name: "source remove",
    summary: "stop backing up a source; its backups and receipts stay",
    flags: ["yes", "json", "root"],
    words: [{ form: "<name>", about: "a source in config.yaml" }],
    load: async () => (await import("./source-remove.ts")).sourceRemove,
  },
  {
    name: "source confirm",
    summary: "confirm that a source is now another database, for example after a restore",
    flags: ["yes", "json", "root"],
    words: [{ form: "<name>", about: "a source in config.yaml" }],
    load: async () => (await import("./source-confirm.ts")).sourceConfirm,
  },
  {
    name: "accept",
    summary: "accept that a source's tables are gone or have fewer rows; signed, with the reason",
    flags: ["because", "wait", "json", "root"],
    words: [
      { form: "<source>", about: "a source in config.yaml" },
      { form: "[tables...]", about: "as the restore test names them; * stands for any text. None: list" },
    ],
    load: async () => (await import("./accept.ts")).accept,
  },
  {
    name: "check try",
    summary: "restore a backup and run the checks on it, without signing anything",
    flags: ["source", "backup", "query", "expect", "canFail", "wait", "json", "root"],
    words: [
      { form: "[source]", about: "a source in config.yaml; default: --source" },
      { form: "[check]", about: "the id of one of its checks; default: all" },
    ],
    load: async () => (await import("./check-try.ts")).checkTry,
  },
  {
    name: "receipts list",
    summary: "list the receipts on this host, newest first",
    flags: ["source", "limit", "json", "root"],
    load: async () => (await import("./receipts-list.ts")).receiptsList,
  },
  {
    name: "receipts show",
    summary: "what a receipt says",
    flags: ["json", "root"],
    words: [{ form: "<receipt>", about: "its number, its rcpt_… id, or the bkp_… id of its backup" }],
    load: async () => (await import("./receipts-show.ts")).receiptsShow,
  },
  {
    name: "receipts verify",
    summary: "verify the signatures, proofs and chain of the receipts on this host",
    flags: ["json", "root"],
    words: [{ form: "[receipt]", about: "one of them; else all" }],
    load: async () => (await import("./receipts-verify.ts")).receiptsVerify,
  },
  {
    name: "keys export",
    summary: "print the public keys; with --secret, write the age identities to a file",
    flags: ["secret", "output", "json", "root"],
    load: async () => (await import("./keys-export.ts")).keysExport,
  },
  {
    name: "keys recovery-kit",
    summary: "make or test the recovery kit: a page that decrypts the backups if this host is lost",
    flags: ["output", "shares", "threshold", "test", "identity", "share", "file", "yes", "json", "root"],
    load: async () => (await import("./keys-recovery-kit.ts")).keysRecoveryKit,
  },
  {
    name: "keys rotate",
    summary: "replace the encryption key or the signing key; the old signing key signs the new one",
    flags: ["recipient", "yes", "json", "root"],
    words: [{ form: "<encryption|signing>", about: "which of the two" }],
    load: async () => (await import("./keys-rotate.ts")).keysRotate,
  },
  {
    name: "alarm",
    summary: "show the log's alarm, or clear it once you know what happened",
    flags: ["because", "forgetHead", "json", "root"],
    words: [{ form: "[show|clear]", about: "show by default" }],
    load: async () => (await import("./alarm.ts")).alarm,
  },
  {
    name: "completion",
    summary: "print the shell completion for commands, flags and sources",
    flags: ["root"],
    words: [{ form: "<bash|zsh|fish>", about: "the shell" }],
    load: async () => (await import("./completion.ts")).completionOf(COMMANDS),
  },
];

/** For each group of commands, its summary and the command that its bare name runs. */
export const GROUPS: Readonly<Record<string, { readonly summary: string; readonly bare?: string }>> = {
  source: { summary: "what is backed up", bare: "list" },
  check: { summary: "checks of the restored data" },
  receipts: { summary: "the receipts on this host", bare: "list" },
  keys: { summary: "the keys of this root" },
};
