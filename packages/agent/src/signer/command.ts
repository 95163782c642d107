/** Where attestore-signer.socket listens. */
export const SIGNER_SOCKET = "/run/attestore/signer.sock";
/** Where it keeps what it holds; root alone sees that besides. */
export const SIGNER_DIRECTORY = "/var/lib/attestore-signer";
/** Hidden command by which our own program holds the agent's keys; see `single-executable.ts`. */
export const SIGNER_COMMAND = "internal-signer";
