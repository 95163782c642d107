import {
  openLogCheckpoint,
  type OpenedLogCheckpoint,
  serviceEventFromJson,
  type ServiceEventBundle,
  parseVerifierKey,
  ProofError,
  type NoteVerifier,
  type Rollback,
  verifyGenerations,
} from "@attestore/proof";

/** What this browser stores of one log. It is not secret: the log signed and published it. */
export interface HeldHead {
  /** The newest head that was checked here, as a signed note. */
  checkpoint: string;
  /** The log's key, which this browser has known since `since`. */
  verifier_key: string;
  since: string;
  seen_at: string;
  /** Only of a log that lost entries: the later generations that this browser has followed to. */
  generations?: FollowedGenerations;
}

export interface FollowedGenerations {
  followed_at: string;
  /** The event that began each of them, in their order. */
  began: ServiceEventBundle[];
  /** The alarm that the loss had raised here, and that ended with the last of them. */
  alarm?: SplitView;
}

export type SplitViewReason =
  | "key_changed"
  | "head_unsigned"
  | "head_forked"
  | "head_rolled_back"
  | "head_inconsistent"
  | "generation_unproven";

/**
 * A split view that this browser saw: what the log had shown before, and what it showed then.
 */
export interface SplitView {
  raised_at: string;
  reason: SplitViewReason;
  detail: string;
  /** Null if the very first head was not signed by this log. */
  kept: HeldHead | null;
  /** As served; its signature may be part of what is wrong. */
  offered: { checkpoint: string; verifier_key: string };
}

type Storage = Pick<globalThis.Storage, "getItem" | "setItem" | "removeItem">;

/**
 * Keyed by organisation and not by the log's name, so that a service that switches to another log
 * is noticed too.
 */
const headKey = (orgId: string): string => `attestore.log-head.${orgId}`;
const alarmKey = (orgId: string): string => `attestore.log-alarm.${orgId}`;

/** Null if this browser has not seen the log, or its stored data cannot be read. */
export function readHeldHead(storage: Storage, orgId: string): HeldHead | null {
  const value = parsed(storage.getItem(headKey(orgId)));
  return isHeldHead(value) ? value : null;
}

export function keepHead(storage: Storage, orgId: string, head: HeldHead): void {
  storage.setItem(headKey(orgId), JSON.stringify(head));
}

export function readSplitView(storage: Storage, orgId: string): SplitView | null {
  const value = parsed(storage.getItem(alarmKey(orgId)));
  return isSplitView(value) ? value : null;
}

/** The first split view stays, because later ones follow from it. */
export function recordSplitView(storage: Storage, orgId: string, splitView: SplitView): void {
  if (readSplitView(storage, orgId) === null) storage.setItem(alarmKey(orgId), JSON.stringify(splitView));
}

/** Stores the head of a generation that accounts for what raised the alarm, which then ends. */
export function keepAndEndAlarm(storage: Storage, orgId: string, head: HeldHead): void {
  // Closed between the two, the browser still has the alarm, and follows again.
  keepHead(storage, orgId, head);
  storage.removeItem(alarmKey(orgId));
}

/** Forgets everything, like a browser that never saw this log. */
export function forgetLog(storage: Storage, orgId: string): void {
  storage.removeItem(headKey(orgId));
  storage.removeItem(alarmKey(orgId));
}

export interface OpenedHeldHead {
  head: OpenedLogCheckpoint;
  key: NoteVerifier;
  /** The generations that this browser has followed to. */
  began: readonly ServiceEventBundle[];
  rollbacks: readonly Rollback[];
}

/**
 * Opens the stored head with the stored key, and verifies the stored generations. Throws ProofError
 * if the stored data was changed.
 */
export async function openHeldHead(held: HeldHead): Promise<OpenedHeldHead> {
  const key = parseVerifierKey(held.verifier_key);
  if (key.algorithm !== "ed25519") throw new ProofError("malformed_key", "the stored key is not a log's key");
  const head = await openLogCheckpoint(held.checkpoint, key);
  const began = (held.generations?.began ?? []).map(serviceEventFromJson);
  return { head, key, began, rollbacks: await verifyGenerations(began, key, head.generation) };
}

/** Null if the log's key did not sign what raised the alarm: only a person can judge that. */
export async function openAlarmed(
  { offered: { checkpoint, verifier_key } }: SplitView,
  held: HeldHead,
): Promise<OpenedLogCheckpoint | null> {
  if (verifier_key !== held.verifier_key) return null;
  try {
    return await openLogCheckpoint(checkpoint, parseVerifierKey(verifier_key));
  } catch (error) {
    if (error instanceof ProofError) return null;
    throw error;
  }
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
  return (
    hasTexts(value, ["checkpoint", "verifier_key", "since", "seen_at"]) &&
    (!("generations" in value) || isFollowed(value.generations))
  );
}

function isFollowed(value: unknown): boolean {
  return hasTexts(value, ["followed_at"]) && "began" in value && Array.isArray(value.began);
}

function isSplitView(value: unknown): value is SplitView {
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
