import { uptime } from "node:os";
import type { HeartbeatResponse } from "@attestore/contract";
import { replaceFile } from "@attestore/host/durable-files";
import type { Config } from "../../config/config.ts";
import { reportEncryption } from "../../recovery/encryption-report.ts";
import type { Layout } from "../../state/layout.ts";
import { readCopy } from "../../state/read-json.ts";
import { journalRequest } from "../../journal/config-requests.ts";
import { spoolDepth } from "../../receipts/spool-depth.ts";
import type { Attachment } from "../../service/attachment.ts";
import { hostFacts } from "../../state/host-facts.ts";
import { LogAlarmError } from "../../state/log-alarm.ts";
import type { HeardHeartbeat, UnknownCommand } from "../../service/read-heartbeat.ts";
import { ServiceError } from "../../transport/service-error.ts";
import { rememberSourceIds } from "../../state/source-ids.ts";
import { cosignKeptCheckpoint, observeCheckpoint, readKeptCheckpoint } from "../../log/witness.ts";

export interface HeartbeatOptions {
  readonly signal: AbortSignal;
  /** Commands that are on this host's disk. */
  readonly acks: readonly string[];
  readonly once?: boolean;
}

export interface Heartbeat {
  readonly response: HeartbeatResponse;
  /** Commands besides those of `response`, of kinds that this version does not know. */
  readonly unknownCommands: readonly UnknownCommand[];
  /** Requests to config.yaml that are on this host's disk now, and were not before. */
  readonly takenRequests: number;
  /** Those that came although config.yaml does not allow any; nothing was kept of them. */
  readonly uninvited: number;
  /** Why the checkpoint that came with it can't be trusted; null if it can. */
  readonly checkpointProblem: LogAlarmError | ServiceError | null;
}

/**
 * One heartbeat: reports this host and its sources, gets commands, and checks the log's checkpoint
 * as its witness.
 * @throws ServiceError; the signal's reason
 */
export async function sendHeartbeat(
  attachment: Attachment,
  config: Config,
  { signal, acks, once = false }: HeartbeatOptions,
): Promise<Heartbeat> {
  const { layout, service } = attachment;
  const held = await cosignKeptCheckpoint(attachment);
  const kept = await readKeptCheckpoint(layout);
  const declared = [...config.sources.values()];
  const body = {
    ...hostFacts(),
    uptime_s: Math.floor(uptime()),
    sources: declared.map(({ slug, engine, tags, environment }) => ({
      slug,
      engine,
      ...(tags === undefined ? {} : { tags: [...tags] }),
      ...(environment === undefined ? {} : { environment }),
    })),
    acks: acks.map((command_id) => ({ command_id })),
    spool: await spoolDepth(layout),
    encryption: await reportEncryption(layout, config),
    ...(config.allowRemoteConfig ? { remote_config: true as const } : {}),
    ...(held === null ? {} : { log_head: held.checkpoint, cosignature: held.cosignature }),
    // During an alarm the head alone: the service can name it as lost only if it knows it.
    ...(held === null && kept !== null ? { log_head: kept } : {}),
  };
  const hasLabels = declared.some(({ tags, environment }) => tags !== undefined || environment !== undefined);
  const heard = await service.heartbeat(body, { signal, once }).catch((error: unknown) => {
    // A service of an earlier version takes no tags and sends no requests, and everything else is
    // more important.
    const isNew = hasLabels || config.allowRemoteConfig;
    if (!isNew || !(error instanceof ServiceError) || error.refusal?.error !== "invalid_request") throw error;
    const sources = declared.map(({ slug, engine }) => ({ slug, engine }));
    const { remote_config: _, ...known } = { remote_config: undefined, ...body };
    return service.heartbeat({ ...known, sources }, { signal, once });
  });
  const { response, unknownCommands } = heard;
  const requests = await takeRequests(layout, config, heard);
  await rememberSourceIds(layout, [
    ...(response.sources ?? []),
    ...response.commands.map(({ source: { id, slug } }) => ({ id, slug })),
  ]);
  await replaceFile(
    layout.lastHeartbeat,
    JSON.stringify({ at: new Date().toISOString(), server_time: response.server_time }),
  );
  try {
    await observeCheckpoint(attachment, response.log_head, signal);
    return { response, unknownCommands, ...requests, checkpointProblem: null };
  } catch (error) {
    if (error instanceof LogAlarmError || error instanceof ServiceError)
      return { response, unknownCommands, ...requests, checkpointProblem: error };
    throw error;
  }
}

/** Takes the requests that come with a heartbeat; the running agent carries them out. */
async function takeRequests(
  layout: Layout,
  { allowRemoteConfig }: Config,
  { response: { config_requests = [] }, malformedRequests }: HeardHeartbeat,
): Promise<Pick<Heartbeat, "takenRequests" | "uninvited">> {
  const requests = [...config_requests, ...malformedRequests.map((id) => ({ id }))];
  if (!allowRemoteConfig) return { takenRequests: 0, uninvited: requests.length };
  let takenRequests = 0;
  for (const request of requests) if (await journalRequest(layout, request)) takenRequests += 1;
  return { takenRequests, uninvited: 0 };
}

/** When the service last answered a heartbeat, by this host's clock and by the service's. */
export async function readLastHeartbeat(layout: Layout): Promise<{ at: string; server_time: string } | null> {
  return (await readCopy(layout.lastHeartbeat)) as { at: string; server_time: string } | null;
}
