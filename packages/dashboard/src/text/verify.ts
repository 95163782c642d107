import type { EvidenceErrorCode } from "../verifier/evidence-file.ts";
import type { KeyOrigin } from "../verifier/verify-in-browser.ts";

/** What is said wherever something is verified in the browser. */
export const verify = {
  title: "Verify a receipt",
  lead: "Is a receipt true, and is it in the log? Answered in this browser; nothing is sent anywhere.",
  offline:
    "Everything needed is loaded: you may switch the network off now. The service told the browser to let this page send nothing.",
  trust:
    "This page's program was served by the service, too. Whoever doubts it uses attestore-verify, or nothing of ours: docs/verify.md says how.",
  noAccountNeeded: "Were you sent a receipt?",
  home: "To the dashboard",
  drop: "Drop files here",
  dropHint:
    "A receipt's bundle (rcpt_….json) or envelope, the agent's agent.pub, the log's log.vkey, the ciphertext. Not evidence packs or lists of keys: attestore-verify takes those",
  choose: "Choose files",
  files: "Files",
  removeShort: "Remove",
  remove: (name: string) => `Remove ${name}`,
  startOver: "Start over",
  tooMany: (limit: number) => `Only the first ${limit} files were taken.`,
  unreadable: "The file cannot be read any more.",
  noReceipt: "No receipt yet: the keys wait for one.",
  kind: {
    bundle: "receipt with its proof",
    envelope: "receipt without proof (a bare envelope)",
    malformed: "malformed receipt",
    agent_key: (fingerprint: string) => `agent's public key ${fingerprint}`,
    log_key: (name: string) => `key of the log ${name}`,
    witness_key: (name: string) => `key of the witness ${name}`,
    ciphertext: (sha256: string) => `ciphertext, SHA-256 ${sha256}`,
    strangeCiphertext: (sha256: string) =>
      `ciphertext, SHA-256 ${sha256}: none of the receipts here is about it`,
    ciphertextTooLarge: (limit: string) =>
      `ciphertext over ${limit}, too large for a browser: paste the output of sha256sum below`,
  },
  error: {
    too_large: "Too large",
    empty: "Empty",
    not_text: "Not a text file",
    not_evidence: "Nothing to verify",
    malformed_key: "Not a key to trust",
    tlog_proof: "A proof without its receipt",
    sigstore_bundle: "A bundle for other tools",
    evidence_pack: "An evidence pack",
  } satisfies Record<EvidenceErrorCode, string>,
  keys: {
    title: "Keys to trust",
    give: "Give the keys to trust",
    explanation:
      "Take them from the people who run the agent, not from whoever gave you the receipt. What a bundle says of its own keys is a claim.",
    agent: "Agent's public key",
    agentHint: "keys/agent.pub of the agent: PEM, an OpenSSH line, or base64",
    log: "Log's verifier key",
    logHint: "keys/log.vkey of an agent: name+hash+base64",
    witnesses: "Witnesses' verifier keys",
    witnessesHint: "Optional, one a line; each of them has to have cosigned",
    ciphertext: "SHA-256 of the ciphertext",
    ciphertextHint: "Optional: the output of sha256sum",
    wrongKind: {
      agent_key: "This is an agent's key.",
      log_key: "This is a log's key.",
      witness_key: "This is a witness's key.",
    },
    correctFirst: "Nothing is verified until every field below is empty or right.",
    notDigest: "Not 64 hexadecimal digits.",
  },
  verdict: {
    true: "True",
    false: "False",
    cannot_tell: "Cannot tell",
  },
  explanation: {
    unable:
      "This browser could not check the signatures: it may be too old for Ed25519. Take another one, or attestore-verify.",
    true: "Everything that was asked for was checked, and held.",
    heldByServed:
      "Everything held, by keys that this service itself gave: the operator's word only. Nothing was changed since, and no more is shown: whoever runs the service can make such keys. Give keys of your own, from the agent's host.",
    heldByServedLog:
      "Everything held, by a key of the log that this service itself gave: the operator's word only. Visit the log's page: from then on this browser knows the key, and watches that the log only grows.",
    false: "Something was checked and did not hold: the lines marked as failed say what.",
    cannot_tell: "Nothing failed, but something needed is missing: the lines marked as not checked say what.",
    malformed: "It says that it is a receipt, and cannot be true as it stands: ",
    claims: "What it claims; that is not shown to be true.",
    servedFailed: "It says that the restore test FAILED.",
    trueFailed: "The receipt is true. It says that the restore test FAILED.",
  },
  result: { held: "held", failed: "FAILED", not_checked: "not checked" },
  checks: "What was compared",
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
    remembered: "known to this browser from an earlier visit to the log's page",
    served:
      "served by this service: compare the fingerprint with what the agent's host says (ssh-keygen -lf keys/agent.pub)",
  } satisfies Record<KeyOrigin, string>,
  logOrigin: {
    given: "given by you",
    remembered: "known to this browser from an earlier visit to the log's page",
    served: "served by this service: compare it with keys/log.vkey on an agent's host",
  } satisfies Record<KeyOrigin, string>,
} as const;
