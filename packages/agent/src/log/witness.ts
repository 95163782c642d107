import { existsSync } from "node:fs";
import { replaceJsonFile } from "@attestore/host/durable-files";
import {
  cosignatureLine,
  cosignatureMessage,
  equalBytes,
  noteVerifier,
  openLogCheckpoint,
  parseCheckpoint,
  parseLogName,
  parseNote,
  ProofError,
  type OpenedLogCheckpoint,
  type ServiceEventBundle,
  plural,
  requireHeadOf,
  verifyGenerations,
} from "@attestore/proof";
import type { Layout } from "../state/layout.ts";
import { waitForLock } from "../state/lock.ts";
import { readJson } from "../state/read-json.ts";
import { readSigningKey } from "../signer/open-signing-keys.ts";
import type { Attachment } from "../service/attachment.ts";
import {
  clearLogAlarm,
  type LogAlarm,
  LogAlarmError,
  type LogAlarmReason,
  readLogAlarm,
  requireNoLogAlarm,
} from "../state/log-alarm.ts";
import { findInconsistency } from "./consistency.ts";
import { checkGenerations } from "./follow-generation.ts";
import {
  type FollowedGenerations,
  generationOf,
  readFollowed,
  writeFollowed,
} from "./followed-generations.ts";
import { raiseLogAlarm } from "./raise-log-alarm.ts";

/** `older`: a checkpoint that was overtaken on its way here; it belongs to the kept tree. */
export type Observed = "first" | "advanced" | "same" | "older";

/**
 * Compares a checkpoint from the service with the last one that this agent kept (C2SP tlog-witness,
 * in spirit). The newer of the two is on disk before this resolves, so an agent that is killed
 * never goes back. It follows to a later generation of the log by the rule of checkGenerations, and
 * an alarm about the loss then ends.
 * @throws LogAlarmError if the log contradicts itself, now or before; ServiceError if the proof was
 * not available
 */
export async function observeCheckpoint(
  attachment: Attachment,
  note: string,
  signal: AbortSignal,
): Promise<Observed> {
  const { layout } = attachment;
  using _ = await waitForLock(layout, "log", "witness", { signal });
  const standing = existsSync(layout.logAlarm) ? await readLogAlarm(layout) : null;
  const followed = await readFollowed(layout);
  const keptNote = await readKeptCheckpoint(layout);
  const alarm = async (reason: LogAlarmReason, detail: string): Promise<never> => {
    throw await raiseLogAlarm(layout, {
      v: 1,
      raised_at: new Date().toISOString(),
      reason,
      detail,
      kept: keptNote,
      offered: note,
    });
  };

  let offered: OpenedLogCheckpoint;
  try {
    offered = await openLogCheckpoint(note, attachment.logKey);
  } catch (error) {
    if (!(error instanceof ProofError)) throw error;
    return await alarm("head_unsigned", error.message);
  }
  const kept = keptNote === null ? null : parseCheckpoint(parseNote(keptNote).text);
  const present = kept === null ? generationOf(followed) : parseLogName(kept.origin).generation;
  // Killed while it followed, an agent may have kept the new head and not ended the alarm yet.
  const before =
    standing === null || standing.kept === null ? null : parseCheckpoint(parseNote(standing.kept).text);
  const alarmed = before === null ? present : parseLogName(before.origin).generation;
  if (offered.generation > Math.min(present, alarmed, generationOf(followed))) {
    const held = [kept, before].filter((head) => head !== null);
    const shown = standing === null ? null : await openAlarmed(attachment, standing);
    if (standing !== null && shown === null) throw new LogAlarmError(standing);
    if (shown !== null) held.push(shown);
    const checked = await checkGenerations(attachment, { offered, held, followed }, signal);
    if ("detail" in checked)
      return await alarm(checked.refused ? "head_inconsistent" : "head_rolled_back", checked.detail);
    await follow(layout, { note, keptNote, followed, began: checked.began, standing });
    return "advanced";
  }
  if (standing !== null) throw new LogAlarmError(standing);
  try {
    await requireOfItsTime(attachment, offered, followed);
  } catch (error) {
    if (!(error instanceof ProofError)) throw error;
    return await alarm("head_forked", error.message);
  }
  if (keptNote === null || kept === null) {
    await keepCheckpoint(layout, note);
    return "first";
  }
  if (offered.size === kept.size) {
    if (!equalBytes(offered.rootHash, kept.rootHash))
      return await alarm("head_forked", `two roots for ${plural(kept.size, "leaf", "leaves")}`);
    return "same";
  }
  const [small, large] = offered.size > kept.size ? [kept, offered] : [offered, kept];
  const isNewer = large === offered;
  const fault = await findInconsistency(attachment, small, large, signal);
  if (fault !== null) {
    const reason = isNewer ? "head_inconsistent" : fault.refused ? "head_rolled_back" : "head_forked";
    return await alarm(reason, fault.detail);
  }
  if (!isNewer) return "older";
  await keepCheckpoint(layout, note);
  return "advanced";
}

/**
 * A generation that has ended signs no head larger than its remaining entries, and a later one only
 * larger heads: otherwise one name has two trees. Throws ProofError.
 */
async function requireOfItsTime(
  { logKey }: Attachment,
  { origin, size }: OpenedLogCheckpoint,
  followed: FollowedGenerations,
): Promise<void> {
  if (followed.began.length === 0) return;
  const rollbacks = await verifyGenerations(followed.began, logKey, generationOf(followed));
  requireHeadOf(rollbacks, { origin, size: Number(size) });
}

/**
 * The head that raised the alarm, if the log signed it: it has to be accounted for too. Null for
 * anything else, which only a person can judge.
 */
async function openAlarmed(
  { logKey }: Attachment,
  { offered }: LogAlarm,
): Promise<OpenedLogCheckpoint | null> {
  try {
    return await openLogCheckpoint(offered, logKey);
  } catch (error) {
    if (error instanceof ProofError) return null;
    throw error;
  }
}

/**
 * The events first: killed after them, the agent still keeps the head of before, and decides again.
 * An alarm about the loss ends last, so that nothing is signed before the rest is on disk.
 */
async function follow(
  layout: Layout,
  {
    note,
    keptNote,
    followed,
    began,
    standing,
  }: {
    note: string;
    keptNote: string | null;
    followed: FollowedGenerations;
    began: readonly ServiceEventBundle[];
    standing: LogAlarm | null;
  },
): Promise<void> {
  const at = new Date().toISOString();
  const added = began.slice(followed.began.length).map(() => ({ at, kept: keptNote }));
  if (added.length > 0)
    await writeFollowed(layout, { ...followed, began, followed: [...followed.followed, ...added] });
  await keepCheckpoint(layout, note);
  const event = began.at(-1)?.leaf.id;
  if (standing !== null)
    await clearLogAlarm(layout, {
      forgetHead: false,
      because: `The log lost entries and names what this agent has seen: ${event}`,
    });
}

/** The note of the newest checkpoint that this agent has verified, or null before the first. */
export async function readKeptCheckpoint(layout: Layout): Promise<string | null> {
  const value = await readJson(layout.keptCheckpoint);
  return value === null ? null : (value as { checkpoint: string }).checkpoint;
}

async function keepCheckpoint(layout: Layout, checkpoint: string): Promise<void> {
  await replaceJsonFile(layout.keptCheckpoint, { v: 1, kept_at: new Date().toISOString(), checkpoint });
}

/**
 * The kept checkpoint with this agent's `cosignature/v1` line over it (C2SP tlog-cosignature): it
 * says that so far the agent has seen no checkpoint that contradicts it. Null before the first
 * checkpoint, and during an alarm.
 */
export async function cosignKeptCheckpoint({
  layout,
  agentId,
}: Attachment): Promise<{ checkpoint: string; cosignature: string } | null> {
  const checkpoint = await readKeptCheckpoint(layout);
  if (checkpoint === null) return null;
  try {
    await requireNoLogAlarm(layout);
  } catch {
    return null;
  }
  const { text } = parseNote(checkpoint);
  const timestamp_s = Math.floor(Date.now() / 1000);
  const key = await readSigningKey(layout);
  const signature = await key.sign(cosignatureMessage(timestamp_s, text));
  const verifier = noteVerifier(agentId, "cosignature/v1", key.publicKey.bytes);
  return { checkpoint, cosignature: cosignatureLine(verifier, timestamp_s, signature) };
}
