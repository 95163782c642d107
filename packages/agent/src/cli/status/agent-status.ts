import { readLastHeartbeat } from "../../backends/attached/heartbeat.ts";
import type { Config } from "../../config/config.ts";
import { listPending } from "../../journal/pending-backup.ts";
import { generationOf, readFollowed } from "../../log/followed-generations.ts";
import { listReceipts } from "../../receipts/receipt-files.ts";
import { listEvents } from "../../receipts/spooled-event.ts";
import type { Layout } from "../../state/layout.ts";
import { isLocked } from "../../state/lock.ts";
import { readLogAlarm } from "../../state/log-alarm.ts";
import { readSourceIds } from "../../state/source-ids.ts";
import { readRemoteConfigStatus, type RemoteConfigStatus } from "../remote-config/remote-config-status.ts";
import { readSourceStatus, type SourceStatus } from "./source-status.ts";
import {
  damageProblems,
  diskProblems,
  storageProblems,
  drawAdvice,
  generationAdvice,
  logProblems,
  lostProblems,
  notLookedAdvice,
  pinProblems,
  type Problem,
  recoveryAdvice,
  rpoProblems,
  sourceProblems,
  spoolProblems,
  type Waiting,
} from "./status-problems.ts";

export interface AgentStatus {
  readonly agent_id: string | null;
  readonly service: string | null;
  /** Where a standalone root stores its backups; null for an attached one. */
  readonly storage: string | null;
  readonly running: boolean;
  readonly last_heartbeat_at: string | null;
  /** Of the log, from 1, as this agent has followed it. */
  readonly log_generation: number;
  readonly sources: readonly SourceStatus[];
  readonly remote_config: RemoteConfigStatus;
  readonly waiting: Waiting;
  readonly problems: readonly Problem[];
  /** Problems that don't keep a source from being proven but need attention. */
  readonly advice: readonly Problem[];
}

/** This host's state, only from its own files: fast, and the same when the service is gone. */
export async function readAgentStatus(layout: Layout, config: Config): Promise<AgentStatus> {
  const ids = await readSourceIds(layout);
  const sources: SourceStatus[] = [];
  for (const source of config.sources.values())
    sources.push(await readSourceStatus(layout, source, ids.get(source.slug)));
  const alarm = await readLogAlarm(layout);
  const running = isLocked(layout, "run");
  const heartbeat = await readLastHeartbeat(layout);
  const waiting = {
    backups: (await listPending(layout)).length,
    receipts: (await listReceipts(layout, "waiting")).length,
    events: (await listEvents(layout.eventsWaiting)).length,
  };
  return {
    agent_id: config.agent?.id ?? null,
    service: config.service?.url.origin ?? null,
    storage: storageOf(config),
    running,
    last_heartbeat_at: heartbeat?.at ?? null,
    log_generation: generationOf(await readFollowed(layout)),
    sources,
    remote_config: await readRemoteConfigStatus(layout, config),
    waiting,
    problems: [
      ...(await diskProblems(layout)),
      ...(await storageProblems(layout, config)),
      ...(await logProblems(layout, alarm)),
      ...(await spoolProblems(
        layout,
        { running, alarmed: alarm !== null, storage: storageOf(config) },
        waiting,
      )),
      ...(await pinProblems(layout, config)),
      ...sources.flatMap(lostProblems),
      ...sources.flatMap((source) => sourceProblems(source, alarm !== null)),
      ...sources.flatMap(rpoProblems),
      ...sources.flatMap(damageProblems),
    ],
    advice: [
      ...(await generationAdvice(layout)),
      ...(await recoveryAdvice(layout, config)),
      ...sources.flatMap((each) => drawAdvice(each, config)),
      ...sources.flatMap(notLookedAdvice),
    ],
  };
}

function storageOf({ standalone }: Config): string | null {
  if (standalone === null) return null;
  const { storage } = standalone;
  return storage.kind === "directory" ? storage.path : `s3://${storage.s3.bucket}/${storage.s3.prefix}`;
}
