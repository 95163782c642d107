import { replaceJsonFile } from "@attestore/host/durable-files";
import { acceptedFile, pendingRotation } from "../../key-rotation/pending-rotation.ts";
import { forgetOldKey, repairPublicKey } from "../../key-rotation/rotate-signing-key.ts";
import type { Attachment } from "../../service/attachment.ts";
import { ServiceError } from "../../transport/service-error.ts";
import type { SubmitOptions } from "./submit-receipt.ts";

/**
 * Tells the service about a new signing key if one is in use that it does not know; until then it
 * refuses what that key signs. Can be repeated after a crash between any two steps: the same
 * rotation gets the same answer. The old private half is removed first: once the service has the
 * new key there is nothing to undo, and nobody would come back for the old one.
 * @returns whether there was one to tell. @throws ServiceError
 */
export async function announceRotation(
  { layout, agentId, service }: Pick<Attachment, "layout" | "agentId" | "service">,
  { signal, once }: SubmitOptions,
): Promise<boolean> {
  const pending = await pendingRotation(layout);
  if (pending === null) return false;
  await repairPublicKey(layout);
  const answer = await service.rotateKey(pending.rotation, { signal, once });
  if (answer.agent_id !== agentId || answer.key_fingerprint !== pending.by_new)
    throw new ServiceError(
      "invalid_response",
      "the service recorded a different key than the agent announced",
    );
  await forgetOldKey(layout, pending.by_old);
  await replaceJsonFile(acceptedFile(pending), { v: 1, accepted_at: new Date().toISOString(), answer });
  return true;
}
