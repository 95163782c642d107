/**
 * The fingerprint of the key that a stored envelope is signed with. An accepted envelope names its
 * key, and the key was checked.
 */
export function keyidOf(envelope: Buffer): string {
  const { signatures } = JSON.parse(envelope.toString("utf8")) as { signatures?: { keyid?: string }[] };
  return signatures?.[0]?.keyid ?? "";
}
