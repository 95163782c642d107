/** Hidden command by which our own program holds the agent's key; see `single-executable.ts`. */
/** Where attestore-signer.socket listens. */
export const SIGNER_SOCKET = "/run/attestore/signer.sock";
export const SIGNER_COMMAND = "internal-signer";
