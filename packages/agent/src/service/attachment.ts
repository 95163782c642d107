import { parseVerifierKey, ProofError, type NoteVerifier } from "@attestore/proof";
import { readAgentToken } from "../state/agent-token.ts";
import type { Config } from "../config/config.ts";
import { notAttached } from "./not-attached.ts";
import type { Layout } from "../state/layout.ts";
import { readText } from "../state/read-json.ts";
import { type SigningKey } from "../signer/signing-key.ts";
import { readSigningKey } from "../signer/open-signing-keys.ts";
import { UserError } from "../errors/user-error.ts";
import { readPinnedCa } from "../transport/pinned-ca.ts";
import { openService, type Service } from "./service.ts";

/** This host as an agent of an organisation: its id, its signing key, its service and its log. */
export interface Attachment {
  readonly layout: Layout;
  readonly agentId: string;
  readonly orgId: string;
  readonly key: SigningKey;
  readonly logKey: NoteVerifier;
  readonly service: Service;
}

/** @throws UserError not_attached, key_file */
export async function openAttachment(layout: Layout, config: Config): Promise<Attachment> {
  if (config.standalone !== null)
    throw new UserError(
      "not_attached",
      `${layout.root} is standalone: there is no service for this. Timers take the place of \`run\` (docs/standalone.md).`,
    );
  if (config.service === null || config.agent === null) throw notAttached(layout, config);
  const [token, key, logKey, pinnedCa] = await Promise.all([
    readAgentToken(layout),
    readSigningKey(layout),
    readLogKey(layout),
    readPinnedCa(config.service.caFile),
  ]);
  return {
    layout,
    agentId: config.agent.id,
    orgId: config.agent.orgId,
    key,
    logKey,
    service: openService({ url: config.service.url, pinnedCa, token }),
  };
}

/** @throws UserError not_attached, key_file */
export async function readLogKey(layout: Layout): Promise<NoteVerifier> {
  const text = await readText(layout.logKey);
  if (text === null)
    throw new UserError("not_attached", `${layout.logKey} does not exist. Run \`attestore init\`.`);
  try {
    return parseVerifierKey(text.trim());
  } catch (error) {
    if (!(error instanceof ProofError)) throw error;
    throw new UserError("key_file", `${layout.logKey}: ${error.message}`, { cause: error });
  }
}
