import { askSigner, signerFailed } from "./ask-signer.ts";
import { OPENED, OPERATION } from "./protocol.ts";

/**
 * The identities that a signing process holds, as their holder's socket offers them. All throw
 * UserError `signer`.
 */

/** The recipient of the host's own, made if there is none. */
export async function ensureHeldIdentity(socket: string): Promise<string> {
  return recipientIn(socket, await askSigner(socket, OPERATION.ensureIdentity));
}

/** The recipient of another one, which was made for this call. */
export async function makeHeldIdentity(socket: string): Promise<string> {
  return recipientIn(socket, await askSigner(socket, OPERATION.nextIdentity));
}

/** Of all that it holds, the host's own first. */
export async function heldRecipients(socket: string): Promise<string[]> {
  const answer = await askSigner(socket, OPERATION.recipients);
  return answer
    .toString("utf8")
    .split("\n")
    .filter((line) => line !== "");
}

/** The file key of the age file with that header. */
export async function fileKeyFrom(
  socket: string,
  header: Uint8Array,
): Promise<Buffer | "no identity" | "damaged"> {
  const answer = await askSigner(socket, OPERATION.openHeader, header);
  const [how] = answer;
  if (how === OPENED.noIdentity && answer.length === 1) return "no identity";
  if (how === OPENED.damaged && answer.length === 1) return "damaged";
  if (how !== OPENED.fileKey || answer.length !== 17)
    throw signerFailed(socket, "returned something that is not a file key");
  return answer.subarray(1);
}

function recipientIn(socket: string, answer: Buffer): string {
  const recipient = answer.toString("utf8");
  if (!/^age1[a-z0-9]{58}$/.test(recipient))
    throw signerFailed(socket, "returned something that is not a recipient");
  return recipient;
}
