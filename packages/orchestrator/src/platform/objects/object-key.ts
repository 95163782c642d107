const SEGMENT = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
const MAX_LENGTH = 512;
const BACKUP = /^org_[^/]+\/src_[^/]+\/upl_[^/]+\.age$/;

/** Where the service puts objects of its own, for the moment that it needs them. */
export const PROBE_PREFIX = "checksum-probe/";

/**
 * Whether a key is one that this service makes: segments that are plain file names, none of them
 * hidden or a way up.
 */
export function isObjectKey(key: string): boolean {
  return key.length <= MAX_LENGTH && key.split("/").every((segment) => SEGMENT.test(segment));
}

/**
 * Whether an object that was found in the store is this service's to remove: a bucket may hold what
 * others put there.
 */
export function isOwnKey(key: string): boolean {
  return isObjectKey(key) && (BACKUP.test(key) || key.startsWith(PROBE_PREFIX));
}

/** @throws RangeError: keys are made by this service, so a wrong one is a defect */
export function requireObjectKey(key: string): void {
  if (!isObjectKey(key))
    throw new RangeError(`not an object key: ${JSON.stringify(key.slice(0, MAX_LENGTH))}`);
}
