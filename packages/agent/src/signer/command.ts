/** Where attestore-signer.socket listens. */
export const SIGNER_SOCKET = "/run/attestore/signer.sock";
/** Where it keeps its keys; besides it, only root can read them. */
export const SIGNER_DIRECTORY = "/var/lib/attestore-signer";
/** Hidden command with which our own program holds the agent's keys; see `single-executable.ts`. */
export const SIGNER_COMMAND = "internal-signer";
