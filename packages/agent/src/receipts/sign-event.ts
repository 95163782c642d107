import { existsSync } from "node:fs";
import type { EventRequest } from "@attestore/contract";
import { errorCode } from "@attestore/host/errno";
import {
  envelopeToJson,
  formatEventStatement,
  PAYLOAD_TYPE,
  ProofError,
  signEnvelope,
  type EnvelopeJson,
} from "@attestore/proof";
import { readConfig } from "../config/config.ts";
import type { Layout } from "../state/layout.ts";
import { readSigningKey } from "../signer/open-signing-keys.ts";
import { UserError } from "../errors/user-error.ts";
import { agentVersion } from "../state/host-facts.ts";
import { signNext } from "./chain.ts";

/**
 * Signs an event as the next statement of this agent's chain; `write` puts it into the spool.
 * Returns false if nothing can be signed: a log alarm is active, the host is not attached, or the
 * key or the newest statement cannot be read. Such events are often about exactly that, so they are
 * reported unsigned rather than not at all.
 */
export async function signEvent(
  layout: Layout,
  event: EventRequest,
  write: (sequence: number, envelope: EnvelopeJson) => Promise<void>,
): Promise<boolean> {
  if (existsSync(layout.logAlarm)) return false;
  let isSigned = false;
  try {
    const { agent } = await readConfig(layout.config, layout.root);
    if (agent === null) return false;
    const key = await readSigningKey(layout);
    await signNext(layout, async (end) => {
      const envelope = await signEnvelope({
        payloadType: PAYLOAD_TYPE,
        payload: formatEventStatement({
          ...event,
          org_id: agent.orgId,
          agent_id: agent.id,
          agent_version: agentVersion,
          previous_receipt_sha256: end.sha256,
        }),
        keyid: key.fingerprint,
        sign: key.sign,
      });
      isSigned = true;
      await write(end.sequence + 1, envelopeToJson(envelope));
    });
    return true;
  } catch (error) {
    // A signed event has its place in the chain, so only an error in writing it to disk remains to
    // report.
    if (!isSigned && isUnreadable(error)) return false;
    throw error;
  }
}

function isUnreadable(error: unknown): boolean {
  const isRefused = error instanceof Error && errorCode(error) !== null;
  return (
    isRefused || error instanceof UserError || error instanceof ProofError || error instanceof SyntaxError
  );
}
