import {
  openCheckpoint,
  parseVerifierKey,
  ProofError,
  type OpenedCheckpoint,
  type NoteVerifier,
} from "@attestore/proof";

/** What this browser holds of one log. No secret: the log's own words, under its own signature. */
export interface HeldHead {
  /** The newest head that was checked here, a signed note. */
  checkpoint: string;
  /** The key that this browser knows the log by, since `since`. */
  verifier_key: string;
  since: string;
  seen_at: string;
}

export type ContradictionReason =
  | "key_changed"
  | "head_unsigned"
  | "head_forked"
  | "head_rolled_back"
  | "head_inconsistent";

/** A log that contradicted itself before this browser: what it had shown, and what it showed then. */
export interface Contradiction {
  raised_at: string;
  reason: ContradictionReason;
  detail: string;
  /** Null where the very first head was none of this log's. */
  kept: HeldHead | null;
  /** As it was served; what it is signed with may be part of what is wrong. */
  offered: { checkpoint: string; verifier_key: string };
}

type Storage = Pick<globalThis.Storage, "getItem" | "setItem" | "removeItem">;

/** By the organisation, which the reader knows, and not by the log's name: a service that names another log is noticed, too. */
const headKey = (orgId: string): string => `attestore.log-head.${orgId}`;
const alarmKey = (orgId: string): string => `attestore.log-alarm.${orgId}`;

/** Null where this browser has not seen the log, or what it kept cannot be read any more. */
export function readHeldHead(storage: Storage, orgId: string): HeldHead | null {
  const value = parsed(storage.getItem(headKey(orgId)));
  return isHeldHead(value) ? value : null;
}

export function keepHead(storage: Storage, orgId: string, head: HeldHead): void {
  storage.setItem(headKey(orgId), JSON.stringify(head));
}

export function readContradiction(storage: Storage, orgId: string): Contradiction | null {
  const value = parsed(storage.getItem(alarmKey(orgId)));
  return isContradiction(value) ? value : null;
}

/** The first one stays: what comes later follows from it. */
export function raiseContradiction(storage: Storage, orgId: string, contradiction: Contradiction): void {
  if (readContradiction(storage, orgId) === null)
    storage.setItem(alarmKey(orgId), JSON.stringify(contradiction));
}

/** Begins anew, as a browser that never saw this log. */
export function forgetLog(storage: Storage, orgId: string): void {
  storage.removeItem(headKey(orgId));
  storage.removeItem(alarmKey(orgId));
}

/** The kept head, opened with the key that it was kept with. Throws ProofError where what is kept was changed. */
export async function openHeldHead(held: HeldHead): Promise<{ head: OpenedCheckpoint; key: NoteVerifier }> {
  const key = parseVerifierKey(held.verifier_key);
  if (key.algorithm !== "ed25519") throw new ProofError("malformed_key", "the stored key is not a log's key");
  return { head: await openCheckpoint(held.checkpoint, key), key };
}

function parsed(text: string | null): unknown {
  if (text === null) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isHeldHead(value: unknown): value is HeldHead {
  return hasTexts(value, ["checkpoint", "verifier_key", "since", "seen_at"]);
}

function isContradiction(value: unknown): value is Contradiction {
  return (
    hasTexts(value, ["raised_at", "reason", "detail"]) &&
    "kept" in value &&
    (value.kept === null || isHeldHead(value.kept)) &&
    "offered" in value &&
    hasTexts(value.offered, ["checkpoint", "verifier_key"])
  );
}

function hasTexts(value: unknown, names: readonly string[]): value is object {
  return (
    typeof value === "object" &&
    value !== null &&
    names.every((name) => typeof (value as Record<string, unknown>)[name] === "string")
  );
}
