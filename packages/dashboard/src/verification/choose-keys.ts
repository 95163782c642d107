import {
  envelopeFromJson,
  type NoteVerifier,
  type PublicKey,
  type Receipt,
  sshFingerprint,
} from "@attestore/proof";
import type { Keys, SourcedKey } from "../verifier/verify-in-browser.ts";

/** Keys that the reader trusts, for receipts from several agents and logs. */
export interface TrustedKeys {
  agents: readonly PublicKey[];
  logs: readonly NoteVerifier[];
  witnesses: readonly NoteVerifier[];
}

/**
 * Which of the trusted keys to verify a receipt with: those that it names, else the first ones. The
 * names are not signed; they only choose among keys that are trusted anyway.
 */
export function chooseKeys(receipt: Receipt, { agents, logs, witnesses }: TrustedKeys): Keys {
  const { keyid } = "bundle" in receipt ? envelopeFromJson(receipt.bundle.envelope) : receipt.envelope;
  const origin = "bundle" in receipt ? receipt.bundle.log.origin : null;
  return {
    agent: given(agents.find((key) => sshFingerprint(key) === keyid) ?? agents[0]),
    log: given(logs.find(({ name }) => name === origin) ?? logs[0]),
    witnesses: witnesses.map((key) => ({ key, origin: "given" as const })),
  };
}

function given<Key>(key: Key | undefined): SourcedKey<Key> | null {
  return key === undefined ? null : { key, origin: "given" };
}
