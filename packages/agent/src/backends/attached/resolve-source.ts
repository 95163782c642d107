import type { HeartbeatResponse, RegisteredSource } from "@attestore/contract";
import type { Config } from "../../config/config.ts";
import { isLocked } from "../../state/lock.ts";
import { UserError } from "../../errors/user-error.ts";
import { journalCommand } from "../../journal/command-journal.ts";
import { listPending } from "../../journal/pending-backup.ts";
import type { Attachment } from "../../service/attachment.ts";
import { sendHeartbeat } from "./heartbeat.ts";
import { ServiceError } from "../../transport/service-error.ts";
import { readSourceIds } from "../../state/source-ids.ts";

/**
 * The service's id of a source in config.yaml; asks with a heartbeat if it is not known here.
 * @throws ServiceError
 */
export async function resolveSourceId(
  attachment: Attachment,
  config: Config,
  slug: string,
  { signal, refresh = false }: { signal: AbortSignal; refresh?: boolean },
): Promise<string> {
  const known = (await readSourceIds(attachment.layout)).get(slug);
  if (known !== undefined && !refresh) return known;
  const response = await askService(attachment, config, { signal });
  const told = response.sources?.find((source) => source.slug === slug)?.id;
  const id = told ?? (await readSourceIds(attachment.layout)).get(slug);
  if (id !== undefined) return id;
  throw new UserError(
    "source_unknown",
    `the service did not register the source "${slug}"; see in its dashboard whether another agent uses that name`,
  );
}

/**
 * Checks, before there is a backup, that the service would accept this agent's backups of a source.
 * If the service can't be reached or does not say, the backup is made anyway.
 * The question is a heartbeat, which also says that the agent runs. So if no agent runs, it is
 * asked only once a ciphertext of the source is waiting.
 * @throws UserError source_unknown
 */
export async function requireOwnSource(
  attachment: Attachment,
  config: Config,
  slug: string,
  { signal }: { signal: AbortSignal },
): Promise<void> {
  const { layout } = attachment;
  const isLeft = (await listPending(layout)).some(({ source }) => source === slug);
  if (!isLeft && !isLocked(layout, "run")) return;
  const told = await declaredNow(attachment, config, signal);
  if (told === undefined) return;
  const source = told.find((each) => each.slug === slug);
  if (source === undefined) {
    throw new UserError(
      "source_unknown",
      `the source "${slug}" was removed from the service, which no longer accepts backups of it. Nothing was dumped. ` +
        "To back it up again, give it another name in config.yaml; otherwise remove it there.",
    );
  }
  const owner = source.agent_id ?? attachment.agentId;
  if (owner === attachment.agentId) return;
  throw new UserError(
    "source_unknown",
    `another agent of the organisation, ${owner}, backs up the source "${slug}", so the service would accept ` +
      `no backup from this one, ${attachment.agentId}. Nothing was dumped. Give the source another name in config.yaml, or, if it has ` +
      "moved to this host, assign it to this agent in the dashboard.",
  );
}

/** Undefined if the service did not say. */
async function declaredNow(
  attachment: Attachment,
  config: Config,
  signal: AbortSignal,
): Promise<readonly RegisteredSource[] | undefined> {
  try {
    return (await askService(attachment, config, { signal, once: true })).sources;
  } catch (error) {
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
}

/**
 * Sends a heartbeat to ask. The service does not soon repeat the commands in its answer to the
 * running agent, so they are written to the journal, and that agent acknowledges them. If no agent
 * runs, they are not acknowledged, and the service delivers them again later.
 */
export async function askService(
  attachment: Attachment,
  config: Config,
  options: { readonly signal: AbortSignal; readonly once?: boolean },
): Promise<HeartbeatResponse> {
  const { response } = await sendHeartbeat(attachment, config, { ...options, acks: [] });
  const { layout } = attachment;
  if (response.commands.length > 0 && isLocked(layout, "run"))
    for (const command of response.commands) await journalCommand(layout, command);
  return response;
}
