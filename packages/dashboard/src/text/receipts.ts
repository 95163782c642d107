import { plural } from "./format.ts";

/** Texts of the pages about receipts. */
export const receipts = {
  navigation: "Receipts",
  list: {
    title: "Receipts",
    lead: "Every backup an agent made and every restore it tried, signed by the agent. All of them are in the log.",
    empty: "No receipts yet. An agent signs the first one when it makes its first backup.",
    noMatch: "No receipt matches the filter.",
    verifyFile: "Verify a file",
    columns: {
      what: "Receipt",
      source: "Source",
      when: "Recorded",
      backup: "Backup",
      index: "Log index",
    },
  },
  filter: {
    label: "Filter",
    source: "Source",
    allSources: "All sources",
    removed: "a removed source",
    kind: "Kind",
    allKinds: "Backups and restore tests",
    result: "Result",
    allResults: "Any result",
    from: "From",
    to: "Until",
    day: "The whole day, in your time zone",
    notReversed: "The end is before the start.",
  },
  kind: { backup: "Backups", restore_test: "Restore tests" },
  result: { passed: "Passed", failed: "Failed" },
  /** A receipt in two words. */
  what: { backup: "Backup made", passed: "Restore test passed", failed: "Restore test FAILED" },
  page: {
    says: "What it says",
    unreadable: "The receipt's statement cannot be read:",
    backedUp: (engine: string, size: string) =>
      `The agent made a backup of ${engine}, encrypted it, and uploaded ${size} of ciphertext.`,
    passed: (where: string, checks: string) =>
      `The agent fetched the backup, decrypted all of it, restored it into ${where}, and ${checks} held.`,
    failed: (where: string, checks: string) =>
      `The agent tried to restore the backup into ${where}: ${checks}.`,
    checksHeld: (count: number) => (count === 1 ? "its one check" : `all ${count} checks`),
    checksFailed: (failed: number, all: number) =>
      all === 0
        ? "no check could run"
        : failed === 0
          ? `${all === 1 ? "its check" : `all ${all} checks`} held, but the test still failed`
          : `${failed} of ${plural(all, "check")} did not hold`,
    runtime: {
      container: "in a container",
      process: "as a separate process on the agent's host",
      uri: "in a database named in the agent's configuration",
    },
    reason: "Reason",
    notCounted: "Not counted",
    notLookedAt: "Not checked",
    empty: "Empty tables",
    fewer: "Fewer objects",
    tables: (count: number) =>
      `The rows of ${plural(count, "table")}: not counted, only known to be readable`,
    notLookedAtCount: (count: number) =>
      `${plural(count, "table or its indexes", "tables or their indexes")}: SQLite on the host lacks what the application adds to it`,
    emptyTables: (count: number) =>
      `${plural(count, "table has", "tables have")} no rows, and no earlier test saw any`,
    fewerObjects: (which: string) => `Than in the backup before: ${which}`,
    content: "Content",
    draw: "Backup chosen by",
    drawn: (event: string) => `the draw ${event}: nobody chose it, if “backup that the draw chose” holds`,
    suspicious: "Suspicious",
    source: "Source",
    backup: "Backup",
    agent: "Agent",
    ran: "Ran",
    recorded: "Recorded by the service",
    ciphertext: "SHA-256 of the ciphertext",
    size: "Ciphertext size",
    engine: "Engine",
    recipients: "Encrypted to",
    runtimeName: "Restored into",
    version: "Agent version",
    previous: "Agent's previous receipt",
    first: "none: this is the agent's first",
    index: "Log index",
    phases: "Duration",
    phase: {
      download_ms: "Fetching the ciphertext",
      decrypt_ms: "Decrypting",
      restore_ms: "Restoring",
      checks_ms: "Checking",
    },
    sum: "Total",
    checks: "Checks",
    noChecks: "No check ran. Such a test counts as failed, whatever was restored.",
    column: { id: "Check", expectation: "Expected", observed: "Observed", result: "Outcome", took: "Took" },
    outcome: { passed: "held", failed: "did NOT hold" },
  },
  certificate: {
    label: "Certificate",
    took: (duration: string) => `took ${duration}`,
    held: (held: number, all: string) => `${held} of ${all} held`,
    notValid: "Not a valid receipt",
    claims: (what: string) => `It claims: ${what}`,
    details: "Details",
    leafHash: "Hash of the log's entry",
    id: "Receipt",
    share: "Share",
    shared: "Its address is copied",
    shareHint:
      "Copies the address of this page. It opens for people of your organisation. For others, download the bundle below.",
    print: "Print",
    marks: {
      label: "Signed, in the log, witnessed",
      held: { signature: "Signature valid", log: "In the log", witnesses: "Witnessed" },
      failed: {
        signature: "Signature NOT valid",
        log: "NOT proven to be in the log",
        witnesses: "A witness's signature is NOT valid",
      },
      not_checked: {
        signature: "Signature not checked",
        log: "Log not checked",
        witnesses: "No witness checked",
      },
      unknown: {
        signature: "Signature not checked yet",
        log: "Log not checked yet",
        witnesses: "Witnesses not checked yet",
      },
      servedKeys:
        "This browser checked that, with keys that the service gave. To rely on nobody, use your own keys under “Verify here”.",
      isFalse: "Do not rely on this receipt: its proof does not hold. “Verify here” says what is wrong.",
      notVerified: "The proof could not be checked. “Verify here” says why.",
    },
  },
  here: {
    title: "Verify here",
    explanation:
      "Fetches the receipt and its proof, and verifies them in this browser: the agent's signature, the statement, the entry in the log, the log's signature and the witnesses.",
    button: "Verify here",
    again: "Verify again",
    own: "Use your own keys",
    wrongReceipt: "The service answered with a different receipt.",
    at: (at: string) => `Verified in this browser, ${at}`,
  },
  elsewhere: {
    title: "Verify elsewhere",
    explanation:
      "You can verify without this page: download the receipt, take the keys from the agent's host, and run one of these.",
    bundle: "Bundle (rcpt_….json)",
    tlogProof: "C2SP tlog-proof",
    sigstore: "Sigstore bundle",
    verifier: "With attestore-verify",
    openssl: "With openssl and jq: the agent's signature",
    cosign: "With cosign: the agent's signature, and the ciphertext's digest",
    page: "Or drop the bundle and your own keys on this service's page for files, which works offline",
    cosignNote: "cosign knows only Sigstore's own log, so it does not check the proof in our log.",
  },
} as const;
