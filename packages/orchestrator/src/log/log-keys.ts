import { noteVerifier, type NoteVerifier } from "@attestore/proof";
import type { SigningKey } from "../platform/keys/signing-key.ts";

/** The service's two keys: one signs heads, the other says when it saw them. */
export interface LogKeys {
  note: SigningKey;
  time: SigningKey;
}

/** What the service's logs are called and whose signatures they carry. Public. */
export interface LogIdentity {
  /** First part of every origin, e.g. `log.example.com`. */
  host: string;
  /** 32 bytes each. */
  notePublicKey: Uint8Array;
  timePublicKey: Uint8Array;
}

export function logIdentity(host: string, keys: LogKeys): LogIdentity {
  return { host, notePublicKey: keys.note.publicKey, timePublicKey: keys.time.publicKey };
}

/** The log's name in its checkpoints, and the name of its key: `<log host>/<org_id>`. */
export function logOrigin(host: string, orgId: string): string {
  return `${host}/${orgId}`;
}

/** Who opens the checkpoints of one organisation's log. One key signs for all of them, under a name for each. */
export function logVerifier(identity: LogIdentity, origin: string): NoteVerifier {
  return noteVerifier(origin, "ed25519", identity.notePublicKey);
}

/** Who vouches for the time of the hourly heads: `<log host>/time`, which no organisation's id can be. */
export function timeVerifier(identity: LogIdentity): NoteVerifier {
  return noteVerifier(`${identity.host}/time`, "cosignature/v1", identity.timePublicKey);
}
