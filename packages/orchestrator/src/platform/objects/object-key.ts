const SEGMENT = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
const MAX_LENGTH = 512;
const BACKUP = /^org_[^/]+\/src_[^/]+\/upl_[^/]+\.age$/;

/** Where the service puts objects of its own, for as long as it needs them. */
export const PROBE_PREFIX = "checksum-probe/";

/**
 * Whether this service could have made the key: its segments are plain file names, none of them
 * hidden or leading up.
 */
export function isObjectKey(key: string): boolean {
  return key.length <= MAX_LENGTH && key.split("/").every((segment) => SEGMENT.test(segment));
}

/**
 * Whether this service may remove an object that it found in the store: a bucket may contain
 * objects of others.
 */
export function isOwnKey(key: string): boolean {
  return isObjectKey(key) && (BACKUP.test(key) || key.startsWith(PROBE_PREFIX));
}

/** @throws RangeError: this service makes the keys, so a wrong one is a defect */
export function requireObjectKey(key: string): void {
  if (!isObjectKey(key))
    throw new RangeError(`not an object key: ${JSON.stringify(key.slice(0, MAX_LENGTH))}`);
}
