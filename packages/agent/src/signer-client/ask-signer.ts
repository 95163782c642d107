import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { errorCode } from "@attestore/host/errno";
import { UserError } from "../errors/user-error.ts";
import { ANSWER, encodeMessage, type Message, MessageReader } from "./protocol.ts";

const ANSWER_MS = 30_000;
/** An upgrade restarts it: that must not lose a receipt. */
const PATIENCE_MS = 20_000;
const PAUSE_MS = 250;

/**
 * The answer of the signing process at a socket to one request. Every request can be repeated
 * without a second effect.
 * @throws UserError `signer` if it refuses or does not answer
 */
export async function askSigner(
  socket: string,
  operation: number,
  payload: Uint8Array = Buffer.alloc(0),
): Promise<Buffer> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      const { kind, payload: answer } = await askOnce(socket, encodeMessage(operation, payload));
      if (kind === ANSWER.done) return answer;
      throw signerFailed(socket, `refused: ${answer.toString("utf8").slice(0, 500)}`);
    } catch (error) {
      if (error instanceof UserError) throw error;
      const code = errorCode(error);
      if (code === "EACCES" || code === "EPERM" || performance.now() >= until)
        throw signerFailed(socket, `does not answer (${code ?? "it hung up"})`, error);
      await delay(PAUSE_MS);
    }
  }
}

async function askOnce(path: string, request: Buffer): Promise<Message> {
  const socket = connect(path);
  try {
    await once(socket, "connect", { signal: AbortSignal.timeout(ANSWER_MS) });
    socket.write(request);
    socket.setTimeout(ANSWER_MS, () => socket.destroy(new Error("it took too long")));
    const reader = new MessageReader();
    for await (const bytes of socket) {
      const answer = reader.push(bytes as Buffer);
      if (answer !== null) return answer;
    }
    throw new Error("it hung up");
  } finally {
    socket.destroy();
  }
}

export function signerFailed(socket: string, what: string, cause?: unknown): UserError {
  return new UserError(
    "signer",
    `the signing process at ${socket} ${what}. Look at: systemctl status attestore-signer.socket attestore-signer.service`,
    { cause },
  );
}
