import { once } from "node:events";
import { access, constants } from "node:fs/promises";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { errorCode } from "@attestore/host/errno";
import { RunError } from "../../errors/run-error.ts";
import type { SandboxStream } from "./remote-place.ts";

/**
 * attestore-sandbox.socket listens here; each connection is an attestore-sandbox@.service of its
 * own.
 */
export const SANDBOX_SOCKET = "/run/attestore/sandbox.sock";
const GONE_MS = 15_000;

/** Whether the packaged sandbox is available to this user. */
export async function hasSandboxUnit(): Promise<boolean> {
  return access(SANDBOX_SOCKET, constants.R_OK | constants.W_OK).then(
    () => true,
    () => false,
  );
}

/** @throws RunError `sandbox_failed`: if the unit exists, nothing weaker is used instead. */
export async function connectSandboxUnit(): Promise<SandboxStream> {
  const socket = connect(SANDBOX_SOCKET);
  try {
    await once(socket, "connect");
  } catch (error) {
    throw new RunError(
      "sandbox_failed",
      `the sandbox unit does not answer at ${SANDBOX_SOCKET} (${errorCode(error) ?? "unknown error"}): see systemctl status attestore-sandbox.socket`,
      { cause: error },
    );
  }
  socket.on("error", () => undefined);
  return {
    input: socket,
    output: socket,
    close: async () => {
      if (socket.closed) return;
      const gone = once(socket, "close");
      socket.end();
      socket.resume();
      await Promise.race([gone, delay(GONE_MS, undefined, { ref: false })]);
      socket.destroy();
    },
  };
}
