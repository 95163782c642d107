const SEGMENT = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
const MAX_LENGTH = 512;

/** Whether a key is one that this service makes: segments that are plain file names, none of them hidden or a way up. */
export function isObjectKey(key: string): boolean {
  return key.length <= MAX_LENGTH && key.split("/").every((segment) => SEGMENT.test(segment));
}

/** @throws RangeError: keys are made by this service, so a wrong one is a defect */
export function requireObjectKey(key: string): void {
  if (!isObjectKey(key))
    throw new RangeError(`not an object key: ${JSON.stringify(key.slice(0, MAX_LENGTH))}`);
}
