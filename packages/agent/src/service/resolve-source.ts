import type { RegisteredSource } from "@attestore/contract";
import type { Config } from "../root/config.ts";
import { isLocked } from "../root/lock.ts";
import { UserError } from "../root/user-error.ts";
import { listPending } from "../spool/pending-backup.ts";
import type { Attachment } from "./attachment.ts";
import { sendHeartbeat } from "./heartbeat.ts";
import { ServiceError } from "./service-error.ts";
import { readSourceIds } from "./source-ids.ts";

/**
 * The service's id of a source of config.yaml; asked for by a heartbeat when it is not known here. A heartbeat of a
 * foreground command acks nothing, so that commands delivered with it come again to whoever runs them.
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
  const { response } = await sendHeartbeat(attachment, config, { signal, acks: [] });
  const told = response.sources?.find((source) => source.slug === slug)?.id;
  const id = told ?? (await readSourceIds(attachment.layout)).get(slug);
  if (id !== undefined) return id;
  throw new UserError(
    "source_unknown",
    `the service did not register the source "${slug}"; its dashboard says whether another agent has that name`,
  );
}

/**
 * That the service would take this agent's backups of a source, asked before there is one. A service that is not reached, or does not
 * say, is no reason not to make a backup.
 *
 * It is asked by a heartbeat, which says that the agent runs. So where none does, it is asked only once a ciphertext of the source has
 * been left waiting.
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
      `the source "${slug}" was removed from the service, which takes no backups of it any more. Nothing was dumped. ` +
        "Give it another name in config.yaml to have it backed up anew, or remove it there.",
    );
  }
  const owner = source.agent_id ?? attachment.agentId;
  if (owner === attachment.agentId) return;
  throw new UserError(
    "source_unknown",
    `another agent of the organisation, ${owner}, makes the backups of the source "${slug}", and the service would take ` +
      `none of this one, ${attachment.agentId}. Nothing was dumped. Give the source another name in config.yaml, or, if it has ` +
      "moved to this host, give it to this agent in the dashboard.",
  );
}

/** Undefined where the service did not say. */
async function declaredNow(
  attachment: Attachment,
  config: Config,
  signal: AbortSignal,
): Promise<readonly RegisteredSource[] | undefined> {
  try {
    const { response } = await sendHeartbeat(attachment, config, { signal, acks: [], once: true });
    return response.sources;
  } catch (error) {
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
}
