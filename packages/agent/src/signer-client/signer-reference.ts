/**
 * The line in an identity file that replaces an identity held by the signing process: it names the
 * socket at which that process opens headers of age files. Wherever identities are passed on, such
 * a line is passed like an identity's own.
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
