import { plural } from "./format.ts";
import type { EvidenceErrorCode } from "../verifier/evidence-file.ts";
import type { KeyOrigin } from "../verifier/verify-in-browser.ts";

/** Texts shown wherever the browser verifies something. */
export const verify = {
  title: "Verify a receipt",
  lead: "Check whether a receipt or an evidence pack is true. This happens in your browser; nothing is sent anywhere.",
  offline:
    "Everything is loaded, so you can disconnect from the network now. The service has told the browser to let this page send nothing.",
  trust:
    "This page's code also comes from the service. If you do not trust it, use attestore-verify, or tools that are not ours: see docs/verify.md.",
  noAccountNeeded: "Were you sent a receipt?",
  home: "To the dashboard",
  drop: "Drop files here",
  dropHint:
    "A receipt's bundle (rcpt_….json) or envelope, the agent's agent.pub, the log's log.vkey, the ciphertext; or an evidence pack (.zip) with a list of the agents' keys",
  choose: "Choose files",
  files: "Files",
  removeShort: "Remove",
  remove: (name: string) => `Remove ${name}`,
  startOver: "Start over",
  tooMany: (limit: number) => `Only the first ${plural(limit, "file was", "files were")} used.`,
  unreadable: "The file can no longer be read.",
  noReceipt: "Add a receipt or an evidence pack to verify with these keys.",
  kind: {
    bundle: "receipt with its proof",
    envelope: "receipt without proof (a bare envelope)",
    malformed: "malformed receipt",
    agent_key: (fingerprint: string) => `agent's public key ${fingerprint}`,
    log_key: (name: string) => `key of the log ${name}`,
    witness_key: (name: string) => `key of the witness ${name}`,
    pack: "evidence pack",
    packTooLarge: (limit: string) =>
      `evidence pack over ${limit}, too large for a browser. On a computer, run: attestore-verify PACK.zip --log-key log.vkey --keys LIST`,
    key_list: (count: number) =>
      `list of ${plural(count, "agent's key", "agents' keys")}, for evidence packs`,
    ciphertext: (sha256: string) => `ciphertext, SHA-256 ${sha256}`,
    strangeCiphertext: (sha256: string) =>
      `ciphertext, SHA-256 ${sha256}: none of these receipts is about it`,
    ciphertextTooLarge: (limit: string) =>
      `ciphertext over ${limit}, too large for a browser; paste the output of sha256sum below`,
  },
  error: {
    too_large: "Too large",
    empty: "Empty",
    not_text: "Not a text file",
    not_evidence: "Nothing to verify",
    malformed_key: "Not a key to trust",
    tlog_proof: "A proof without its receipt",
    sigstore_bundle: "A bundle for other tools",
  } satisfies Record<EvidenceErrorCode, string>,
  keys: {
    title: "Keys to trust",
    give: "Give the keys to trust",
    explanation:
      "Get them from the people who run the agent, not from whoever gave you the receipt. The keys inside a bundle are only a claim.",
    agent: "Agent's public key",
    agentHint: "keys/agent.pub of the agent: PEM, an OpenSSH line, or base64",
    log: "Log's verifier key",
    logHint: "keys/log.vkey of an agent: name+hash+base64",
    witnesses: "Witnesses' verifier keys",
    witnessesHint: "Optional, one per line; each of them must have cosigned",
    ciphertext: "SHA-256 of the ciphertext",
    ciphertextHint: "Optional: the output of sha256sum",
    wrongKind: {
      agent_key: "This is an agent's key.",
      log_key: "This is a log's key.",
      witness_key: "This is a witness's key.",
    },
    correctFirst: "Nothing is verified until every field below is empty or valid.",
    notDigest: "Not 64 hexadecimal digits.",
  },
  verdict: {
    true: "True",
    false: "False",
    cannot_tell: "Cannot tell",
  },
  /** In place of "True" where the receipt is of a failed test. */
  authentic: "Authentic",
  explanation: {
    unable:
      "This browser could not check the signatures. It may be too old for Ed25519. Use another browser, or attestore-verify.",
    true: "Everything you asked for was checked, and held.",
    heldByServed:
      "Everything held, but only with keys that this service itself gave. That shows that nothing was changed since, and no more, because whoever runs the service can make such keys. Use your own keys, from the agent's host.",
    heldByServedLog:
      "Everything held, but only with a log key that this service itself gave. Visit the log's page: from then on this browser knows the key and watches that the log only grows.",
    false: "Something was checked and did not hold. The lines marked as failed say what.",
    cannot_tell: "Nothing failed, but something needed is missing. The lines marked as not checked say what.",
    malformed: "It claims to be a receipt, but it cannot be true: ",
    claims: "These are its claims. They have not been shown to be true.",
    servedFailed: "It says that the restore test FAILED.",
    trueFailed: "The receipt is true. It says that the restore test FAILED.",
  },
  result: { held: "held", failed: "FAILED", not_checked: "not checked" },
  checks: "What was checked",
  source: {
    title: "Where the keys come from",
    agent: "Agent's key",
    log: "Log's key",
    witnesses: "Witnesses' keys",
    none: "none",
    servedShort: "served by this service",
  },
  origin: {
    given: "given by you",
    remembered: "remembered by this browser from an earlier visit to the log's page",
    served:
      "served by this service: compare the fingerprint with what the agent's host says (ssh-keygen -lf keys/agent.pub)",
  } satisfies Record<KeyOrigin, string>,
  logOrigin: {
    given: "given by you",
    remembered: "remembered by this browser from an earlier visit to the log's page",
    served: "served by this service: compare it with keys/log.vkey on an agent's host",
  } satisfies Record<KeyOrigin, string>,
} as const;
