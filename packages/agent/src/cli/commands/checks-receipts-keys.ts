import type { Command } from "../command.ts";

/** Checks, receipts and keys. */
export const CHECKS_RECEIPTS_KEYS: readonly Command[] = [
  {
    name: "check try",
    summary: "restore a backup and run the checks on it, without signing anything",
    flags: ["source", "backup", "query", "expect", "canFail", "wait", "json", "root", "quiet", "verbose"],
    words: [
      { form: "[source]", about: "a source in config.yaml; default: --source" },
      { form: "[check]", about: "the id of one of its checks; default: all" },
    ],
    examples: [
      ["attestore check try shop", "run all checks on the newest backup"],
      [
        'attestore check try shop --query "select count(*) as n from orders" --expect "n >= 1000"',
        "one that is not in config.yaml yet",
      ],
      ["attestore check try shop --can-fail", "find checks that would not notice ruined data"],
    ],
    page: "checks.md",
    load: async () => (await import("../check-try.ts")).checkTry,
  },
  {
    name: "check add",
    summary: "add the checks of an application's template to a source in config.yaml",
    flags: ["template", "tablePrefix", "source", "yes", "json", "root", "quiet", "verbose"],
    words: [{ form: "[source]", about: "a source in config.yaml; default: --source" }],
    examples: [
      ["attestore check add blog --template wordpress", "show the change to config.yaml, and ask"],
      [
        "attestore check add blog --template wordpress --table-prefix site2_ --yes",
        "for tables of another name",
      ],
    ],
    page: "checks.md#templates",
    load: async () => (await import("../check-add.ts")).checkAdd,
  },
  {
    name: "check templates",
    summary: "list the templates of checks for well-known applications",
    flags: ["json", "root", "quiet", "verbose"],
    examples: [["attestore check templates", "what there is, with each check's query"]],
    page: "checks.md#templates",
    load: async () => (await import("../check-templates.ts")).checkTemplates,
  },
  {
    name: "receipts list",
    summary: "list the receipts on this host, newest first",
    flags: ["source", "limit", "json", "root", "quiet", "verbose"],
    examples: [["attestore receipts list --source shop --limit 5", "the newest five of a source"]],
    page: "verify.md",
    load: async () => (await import("../receipts-list.ts")).receiptsList,
  },
  {
    name: "receipts show",
    summary: "show what a receipt says",
    flags: ["json", "root", "quiet", "verbose"],
    words: [{ form: "<receipt>", about: "its number, its rcpt_… id, or the bkp_… id of its backup" }],
    examples: [["attestore receipts show 12", "by its number"]],
    page: "verify.md",
    load: async () => (await import("../receipts-show.ts")).receiptsShow,
  },
  {
    name: "receipts verify",
    summary: "verify the signatures, proofs and chain of the receipts on this host",
    flags: ["json", "root", "quiet", "verbose"],
    words: [{ form: "[receipt]", about: "one of them; default: all" }],
    examples: [["attestore receipts verify", "all of them, and that none is missing between them"]],
    page: "verify.md",
    load: async () => (await import("../receipts-verify.ts")).receiptsVerify,
  },
  {
    name: "receipts recompute",
    summary: "recompute the digests in a backup's receipt from its ciphertext, with an identity",
    flags: ["file", "identity", "json", "root", "quiet", "verbose"],
    words: [{ form: "<receipt>", about: "its file, its number, or the bkp_… id of its backup" }],
    examples: [
      [
        "attestore receipts recompute 00000001-backup.json --file BACKUP.age --identity age.key",
        "on any host that has the engine's programs",
      ],
    ],
    page: "formats.md#content",
    load: async () => (await import("../receipts-recompute.ts")).receiptsRecompute,
  },
  {
    name: "keys export",
    summary: "print the public keys; with --secret, write the age identities to a file",
    flags: ["secret", "output", "json", "root", "quiet", "verbose"],
    examples: [
      ["attestore keys export", "what others need to verify this host's receipts"],
      [
        "attestore keys export --secret --output /media/usb/age.key",
        "a copy of the identity that decrypts the backups",
      ],
    ],
    page: "keys.md",
    load: async () => (await import("../keys-export.ts")).keysExport,
  },
  {
    name: "keys recovery-kit",
    summary: "make or test the recovery kit: a page that decrypts the backups if this host is lost",
    flags: [
      "output",
      "shares",
      "threshold",
      "test",
      "identity",
      "share",
      "file",
      "yes",
      "json",
      "root",
      "quiet",
      "verbose",
    ],
    examples: [
      ["attestore keys recovery-kit --output kit.html", "a page to print"],
      [
        "attestore keys recovery-kit --output share.txt --shares 5 --threshold 3",
        "split among five people, any three of whom suffice",
      ],
      ["attestore keys recovery-kit --test", "type the printed key: does it decrypt the backups?"],
    ],
    page: "keys.md#recovery-kit",
    load: async () => (await import("../keys-recovery-kit.ts")).keysRecoveryKit,
  },
  {
    name: "keys rotate",
    summary: "replace the encryption key or the signing key; the old signing key signs the new one",
    flags: ["recipient", "yes", "json", "root", "quiet", "verbose"],
    words: [{ form: "<encryption|signing>", about: "which of the two" }],
    examples: [
      ["attestore keys rotate signing", "a new signing key, signed by the old one"],
      ["attestore keys rotate encryption", "a new identity for future backups"],
    ],
    page: "keys.md#rotation",
    load: async () => (await import("../keys-rotate.ts")).keysRotate,
  },
];
