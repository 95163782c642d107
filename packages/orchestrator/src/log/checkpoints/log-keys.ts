import { noteVerifier, type NoteVerifier } from "@attestore/proof";
import type { SigningKey } from "../../platform/keys/signing-key.ts";

/** The service's two keys: one signs heads, the other cosigns them with the time. */
export interface LogKeys {
  note: SigningKey;
  time: SigningKey;
}

/** The names and public keys of the service's logs. */
export interface LogIdentity {
  /** First part of every log's origin, e.g. `log.example.com`. */
  host: string;
  /** 32 bytes each. */
  notePublicKey: Uint8Array;
  timePublicKey: Uint8Array;
}

export function logIdentity(host: string, keys: LogKeys): LogIdentity {
  return { host, notePublicKey: keys.note.publicKey, timePublicKey: keys.time.publicKey };
}

/** The log's origin in its checkpoints, which is also its key's name: `<log host>/<org_id>`. */
export function logOrigin(host: string, orgId: string): string {
  return `${host}/${orgId}`;
}

/**
 * Verifier of one organisation's checkpoints. One key signs for all logs, under a name for each.
 */
export function logVerifier(identity: LogIdentity, origin: string): NoteVerifier {
  return noteVerifier(origin, "ed25519", identity.notePublicKey);
}

/** Verifier of the hourly heads' time: `<log host>/time`. No organisation's id can be `time`. */
export function timeVerifier(identity: LogIdentity): NoteVerifier {
  return noteVerifier(`${identity.host}/time`, "cosignature/v1", identity.timePublicKey);
}
