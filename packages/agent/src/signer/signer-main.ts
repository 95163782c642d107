import { createServer } from "node:net";
import { HeldIdentities } from "./held-identities.ts";
import { KeyDirectory } from "./key-directory.ts";
import { serveSigner } from "./serve-signer.ts";

/** sd_listen_fds(3): the first descriptor that systemd passes. */
const SOCKET_FD = 3;

/**
 * `attestore internal-signer`: attestore-signer.service, with its unit's socket. Holds the agent's
 * keys: signs what an agent signs, and opens headers of backups.
 */
export function runSigner(): void {
  const directory = process.env["STATE_DIRECTORY"];
  if (directory === undefined || process.env["LISTEN_FDS"] !== "1") {
    process.stderr.write(
      "attestore: this is for attestore-signer.service, which gives it a socket and a directory\n",
    );
    process.exit(2);
  }
  process.umask(0o077);
  // The client may have closed its own half.
  const server = createServer({ allowHalfOpen: true });
  serveSigner(server, { keys: new KeyDirectory(directory), identities: new HeldIdentities(directory) });
  server.listen({ fd: SOCKET_FD });
  // Pending requests are answered first; systemd keeps the socket.
  for (const name of ["SIGTERM", "SIGINT"] as const) process.once(name, () => server.close());
}
