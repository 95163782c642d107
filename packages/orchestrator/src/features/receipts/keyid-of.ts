/**
 * The fingerprint of the key that a stored envelope is signed with. What was accepted names it, and
 * is that key's.
 */
export function keyidOf(envelope: Buffer): string {
  const { signatures } = JSON.parse(envelope.toString("utf8")) as { signatures?: { keyid?: string }[] };
  return signatures?.[0]?.keyid ?? "";
}
