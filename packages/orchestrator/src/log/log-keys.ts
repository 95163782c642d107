import { createPublicKey, type KeyObject } from "node:crypto";
import { noteVerifier, type NoteVerifier } from "@attestore/proof";

/** The service's two Ed25519 private keys: one signs heads, the other says when it saw them. */
export interface LogKeys {
  note: KeyObject;
  time: KeyObject;
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
  return { host, notePublicKey: rawPublicKey(keys.note), timePublicKey: rawPublicKey(keys.time) };
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

function rawPublicKey(key: KeyObject): Uint8Array {
  const { crv, x } = createPublicKey(key).export({ format: "jwk" });
  if (crv !== "Ed25519" || x === undefined) throw new TypeError("a log's key has to be an Ed25519 key");
  return new Uint8Array(Buffer.from(x, "base64url"));
}
