import type { Command } from "./command.ts";

/** Every command, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  {
    name: "init",
    summary: "make a root, and attach this host to an organisation, or make it stand alone",
    flags: [
      ...(["service", "caFile", "caSha256", "authKeyFile", "name", "recipient"] as const),
      ...(["standalone", "storage", "s3Endpoint", "s3Region", "json", "root"] as const),
    ],
    makesRoot: true,
    load: async () => (await import("./init.ts")).init,
  },
  {
    name: "backup",
    summary: "back a source up, encrypted, and put a signed receipt into the log",
    flags: ["source", "maxRate", "wait", "json", "root"],
    load: async () => (await import("./backup.ts")).backup,
  },
  {
    name: "restore-test",
    summary: "restore a stored backup into a throw-away place, check it, and sign what was found",
    flags: ["source", "backup", "wait", "json", "root"],
    load: async () => (await import("./restore-test.ts")).restoreTest,
  },
  {
    name: "restore",
    summary: "decrypt a backup into a file, which appears only when its end is authenticated",
    flags: ["source", "backup", "file", "output", "identity", "wait", "json", "root"],
    load: async () => (await import("./restore.ts")).restore,
  },
  {
    name: "run",
    summary: "serve: heartbeat, run what the service asks for, submit receipts, watch the log",
    flags: ["maxRate", "root"],
    load: async () => (await import("./run-agent.ts")).runAgent,
  },
  {
    name: "sync",
    summary: "upload and submit now what waits for the service",
    flags: ["maxRate", "wait", "json", "root"],
    load: async () => (await import("./sync.ts")).sync,
  },
  {
    name: "prune",
    summary: "standalone: remove the backups that no keep rule names, never the newest that is proven",
    flags: [
      ...(["keepLast", "keepDays", "keepDaily", "keepWeekly", "keepMonthly", "keepYearly"] as const),
      ...(["source", "dryRun", "yes", "wait", "json", "root"] as const),
    ],
    load: async () => (await import("./prune.ts")).prune,
  },
  {
    name: "status",
    summary: "what is proven, how old it is, what is wrong, and what to do (the bare command says the same)",
    flags: ["json", "root"],
    load: async () => (await import("./status.ts")).status,
  },
  {
    name: "doctor",
    summary: "look for what is wrong with this installation, and say what to do",
    flags: ["json", "root"],
    load: async () => (await import("./doctor.ts")).doctor,
  },
  {
    name: "source add",
    summary: "declare a source: tries it, proposes checks, shows the change of config.yaml, and makes it",
    flags: [
      ...(["engine", "connection", "path", "databases", "globals", "pattern"] as const),
      ...(["repository", "passwordFrom", "probe", "checks", "yes", "json", "root"] as const),
    ],
    words: [{ form: "[name]", about: "what to call it: up to 63 of a-z 0-9 - _" }],
    load: async () => (await import("./source-add.ts")).sourceAdd,
  },
  {
    name: "source list",
    summary: "the sources of config.yaml",
    flags: ["json", "root"],
    load: async () => (await import("./source-list.ts")).sourceList,
  },
  {
    name: "source remove",
    summary: "back a source up no longer; its backups and receipts stay",
    flags: ["yes", "json", "root"],
    words: [{ form: "<name>", about: "a source of config.yaml" }],
    load: async () => (await import("./source-remove.ts")).sourceRemove,
  },
  {
    name: "source confirm",
    summary: "say that a source is another database from now on, such as one that was restored",
    flags: ["yes", "json", "root"],
    words: [{ form: "<name>", about: "a source of config.yaml" }],
    load: async () => (await import("./source-confirm.ts")).sourceConfirm,
  },
  {
    name: "check try",
    summary: "run the checks against a stored backup, restored on the side; signs nothing",
    flags: ["source", "backup", "query", "expect", "wait", "json", "root"],
    words: [
      { form: "[source]", about: "a source of config.yaml; else --source" },
      { form: "[check]", about: "the id of one of its checks; else all" },
    ],
    load: async () => (await import("./check-try.ts")).checkTry,
  },
  {
    name: "receipts list",
    summary: "the receipts on this host, the newest first",
    flags: ["source", "limit", "json", "root"],
    load: async () => (await import("./receipts-list.ts")).receiptsList,
  },
  {
    name: "receipts show",
    summary: "what a receipt says",
    flags: ["json", "root"],
    words: [{ form: "<receipt>", about: "its number, rcpt_…, or the bkp_… that it is about" }],
    load: async () => (await import("./receipts-show.ts")).receiptsShow,
  },
  {
    name: "receipts verify",
    summary: "verify signatures, proofs and the chain of the receipts on this host",
    flags: ["json", "root"],
    words: [{ form: "[receipt]", about: "one of them; else all" }],
    load: async () => (await import("./receipts-verify.ts")).receiptsVerify,
  },
  {
    name: "keys export",
    summary: "print the public keys; with --secret write the age identities into a file",
    flags: ["secret", "output", "json", "root"],
    load: async () => (await import("./keys-export.ts")).keysExport,
  },
  {
    name: "keys recovery-kit",
    summary: "make the page that opens the backups when this host is gone, or test it",
    flags: ["output", "shares", "threshold", "test", "identity", "share", "file", "yes", "json", "root"],
    load: async () => (await import("./keys-recovery-kit.ts")).keysRecoveryKit,
  },
  {
    name: "keys rotate",
    summary:
      "replace the key that backups are encrypted to, or the one that signs; the old one vouches for the new",
    flags: ["recipient", "yes", "json", "root"],
    words: [{ form: "<encryption|signing>", about: "which of the two" }],
    load: async () => (await import("./keys-rotate.ts")).keysRotate,
  },
  {
    name: "alarm",
    summary: "show the alarm over the log, or clear it once you know what happened",
    flags: ["because", "forgetHead", "json", "root"],
    words: [{ form: "[show|clear]", about: "show by default" }],
    load: async () => (await import("./alarm.ts")).alarm,
  },
  {
    name: "completion",
    summary: "print what makes a shell complete the commands, flags and sources",
    flags: ["root"],
    words: [{ form: "<bash|zsh|fish>", about: "the shell" }],
    load: async () => (await import("./completion.ts")).completionOf(COMMANDS),
  },
];

/** Of each group of commands, what it is about and which of them its bare name calls. */
export const GROUPS: Readonly<Record<string, { readonly summary: string; readonly bare?: string }>> = {
  source: { summary: "what is backed up", bare: "list" },
  check: { summary: "what is asked of the restored data" },
  receipts: { summary: "the receipts on this host", bare: "list" },
  keys: { summary: "the keys of this root" },
};
