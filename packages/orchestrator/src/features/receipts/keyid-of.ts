/**
 * The fingerprint of the key that signed a stored envelope. An accepted envelope names its key, and
 * that key was checked.
 */
export function keyidOf(envelope: Buffer): string {
  const { signatures } = JSON.parse(envelope.toString("utf8")) as { signatures?: { keyid?: string }[] };
  return signatures?.[0]?.keyid ?? "";
}
