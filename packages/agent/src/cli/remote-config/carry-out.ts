import type { ConfigAnswer, ConfigResult } from "@attestore/contract";
import { attachedBackend } from "../../backends/attached/attached-backend.ts";
import { resolveSourceId } from "../../backends/attached/resolve-source.ts";
import { type Config, readConfig } from "../../config/config.ts";
import { RunError } from "../../errors/run-error.ts";
import { UserError } from "../../errors/user-error.ts";
import type { JournaledRequest } from "../../journal/config-requests.ts";
import type { Attachment } from "../../service/attachment.ts";
import { ServiceError } from "../../transport/service-error.ts";
import { takeWorkLock } from "../invocation/work-lock.ts";
import { addCheck } from "./add-check.ts";
import { addSource } from "./add-source.ts";
import { type Addition, wasAdded } from "./change-config.ts";
import { clipped } from "./clipped.ts";
import { discover } from "./discover.ts";
import { refused } from "./refused.ts";
import { listedColumns, tryCheck } from "./try-check.ts";
import { trySource } from "./try-source.ts";

/** A request that this host took longer ago is no longer wanted. */
const LONGEST_MS = 15 * 60_000;
/** A restore may take long, and nothing else that is asked waits for a dump to end. */
const LONGEST_TRY_MS = 30 * 60_000;
const LONGEST_LOOK_MS = 3 * 60_000;
/** A backup may take hours, and somebody waits at a page. */
const LOCK_MS = 60_000;

export interface Carrying {
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

/**
 * Does what somebody asked over the service, if config.yaml allows it at this moment. Whatever
 * keeps it from being done is the answer.
 * @throws the signal's reason; a defect
 */
export async function carryOut(
  attachment: Attachment,
  entry: JournaledRequest,
  carrying: Carrying,
): Promise<ConfigAnswer> {
  try {
    return { result: await perform(attachment, entry, carrying) };
  } catch (error) {
    carrying.signal.throwIfAborted();
    if (error instanceof RunError && error.code === "interrupted")
      return { refusal: { reason: error.code, message: "it took too long, and was stopped" } };
    const isKnown = error instanceof UserError || error instanceof RunError || error instanceof ServiceError;
    if (!isKnown) throw error;
    return { refusal: { reason: error.code, message: clipped(error.message, 2000) } };
  }
}

async function perform(
  attachment: Attachment,
  entry: JournaledRequest,
  carrying: Carrying,
): Promise<ConfigResult> {
  const { layout } = attachment;
  const { request } = entry;
  // Never the last valid one: somebody may just have removed the line.
  const config = await readConfig(layout.config, layout.root);
  if (!config.allowRemoteConfig)
    throw new UserError(
      "remote_config_off",
      "config.yaml on this host does not allow it (allow_remote_config)",
    );
  if (request === null)
    throw refused("this agent does not know this kind of request, or the request has an unknown field");
  if (Date.now() - Date.parse(entry.received_at) > LONGEST_MS && entry.state !== "adding")
    throw refused("the request is too old: ask again");
  const timeout = AbortSignal.timeout(request.kind === "try_check" ? LONGEST_TRY_MS : LONGEST_LOOK_MS);
  const context = { scratchDir: layout.scratch, signal: AbortSignal.any([carrying.signal, timeout]) };
  switch (request.kind) {
    case "discover":
      return discover(config, layout.root, context);
    case "try_source":
      return trySource(config, request, layout.root, context);
    case "list_columns":
      return listedColumns(config, request.source, context);
    case "try_check": {
      using _ = await workLock(attachment, carrying, "try a check");
      return await tryCheck(attachedBackend(attachment), config, request, context);
    }
    case "add_source": {
      {
        using _ = await workLock(attachment, carrying, "add a source");
        if (!(await wasAdded(layout, entry))) await addSource(layout, config, entry, request, context);
      }
      return { kind: request.kind, added: request.name, ...(await idOf(attachment, request.name, carrying)) };
    }
    case "add_check": {
      using _ = await workLock(attachment, carrying, "add a check");
      const source = (await wasAdded(layout, entry))
        ? (entry.writes as Addition).source
        : await addCheck(layout, config, entry, request);
      return { kind: request.kind, source, added: request.name };
    }
  }
}

async function workLock({ layout }: Attachment, { signal, say }: Carrying, what: string) {
  const timeout = AbortSignal.timeout(LOCK_MS);
  const patience = { signal: AbortSignal.any([signal, timeout]), wait: true, say };
  return takeWorkLock(layout, `run (${what})`, patience).catch((error: unknown) => {
    if (!timeout.aborted || signal.aborted) throw error;
    throw new UserError("locked", "a backup or a restore test runs on this host: try again when it is over");
  });
}

/** The next heartbeat tells the service if it cannot be reached now. */
async function idOf(
  attachment: Attachment,
  name: string,
  { signal }: Carrying,
): Promise<{ source_id?: string }> {
  const { layout } = attachment;
  const config: Config = await readConfig(layout.config, layout.root);
  try {
    return { source_id: await resolveSourceId(attachment, config, name, { signal }) };
  } catch (error) {
    if (error instanceof ServiceError || error instanceof UserError) return {};
    throw error;
  }
}
