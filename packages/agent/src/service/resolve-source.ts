import type { Config } from "../root/config.ts";
import { UserError } from "../root/user-error.ts";
import type { Attachment } from "./attachment.ts";
import { sendHeartbeat } from "./heartbeat.ts";
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
