/**
 * What stands in an identity file in place of an identity that the signing process holds: it names
 * the socket at which that process opens headers of age files. Such a line is a text like an
 * identity's own, wherever identities are handed on.
 */
const LINE = /^held-by-signer (\/[\x21-\x7e]{1,107})$/;

/** The socket that such a line names; null for any other text. */
export function socketOf(identity: string): string | null {
  return LINE.exec(identity)?.[1] ?? null;
}

export function signerReferenceLine(socket: string): string {
  return `held-by-signer ${socket}`;
}

/** A whole identity file. */
export function signerReferenceFile(socket: string, recipient: string): string {
  return `# The signing process holds this identity; a copy of it only root can make: docs/keys.md\n# public key: ${recipient}\n${signerReferenceLine(socket)}\n`;
}
