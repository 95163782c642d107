import { replaceJsonFile } from "@attestore/host/durable-files";
import {
  cosignatureLine,
  cosignatureMessage,
  equalBytes,
  hashFromHex,
  noteVerifier,
  openCheckpoint,
  parseCheckpoint,
  parseNote,
  ProofError,
  verifyConsistency,
  type Checkpoint,
  type OpenedCheckpoint,
  plural,
} from "@attestore/proof";
import type { Layout } from "../state/layout.ts";
import { waitForLock } from "../state/lock.ts";
import { readJson } from "../state/read-json.ts";
import { readSigningKey } from "../signer/open-signing-keys.ts";
import type { Attachment } from "../service/attachment.ts";
import { requireNoLogAlarm, type LogAlarmReason } from "../state/log-alarm.ts";
import { raiseLogAlarm } from "./raise-log-alarm.ts";
import { isPermanentRefusal, ServiceError } from "../transport/service-error.ts";

/** `older`: a checkpoint that was overtaken on its way here; it belongs to the kept tree. */
export type Observed = "first" | "advanced" | "same" | "older";

/**
 * Compares a checkpoint from the service with the last one that this agent kept (C2SP tlog-witness,
 * in spirit). The newer of the two is on disk before this resolves, so an agent that is killed
 * never goes back.
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
  await requireNoLogAlarm(layout);
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

  let offered: OpenedCheckpoint;
  try {
    offered = await openCheckpoint(note, attachment.logKey);
  } catch (error) {
    if (!(error instanceof ProofError)) throw error;
    return alarm("head_unsigned", error.message);
  }
  if (keptNote === null) {
    await keepCheckpoint(layout, note);
    return "first";
  }
  const kept = parseCheckpoint(parseNote(keptNote).text);
  if (offered.size === kept.size) {
    if (!equalBytes(offered.rootHash, kept.rootHash))
      return alarm("head_forked", `two roots for ${plural(kept.size, "leaf", "leaves")}`);
    return "same";
  }
  const [small, large] = offered.size > kept.size ? [kept, offered] : [offered, kept];
  const isNewer = large === offered;
  const fault = await inconsistency(attachment, small, large, signal);
  if (fault !== null) {
    const reason = isNewer ? "head_inconsistent" : fault.refused ? "head_rolled_back" : "head_forked";
    return alarm(reason, fault.detail);
  }
  if (!isNewer) return "older";
  await keepCheckpoint(layout, note);
  return "advanced";
}

/** Null once the service has shown that the large tree begins with the small one. */
async function inconsistency(
  { service }: Attachment,
  small: Checkpoint,
  large: Checkpoint,
  signal: AbortSignal,
): Promise<{ refused: boolean; detail: string } | null> {
  const sizes = `from ${small.size} to ${plural(large.size, "leaf", "leaves")}`;
  // Every tree begins with the empty one. Asking anyway shows that the service still has the large
  // one.
  const from = small.size === 0n ? null : Number(small.size);
  try {
    const leaf = from === null ? Number(large.size) - 1 : from - 1;
    const { consistency } = await service.logProof({ leaf, treeSize: Number(large.size), from }, { signal });
    if (from === null) return null;
    if (consistency === null)
      return { refused: true, detail: `the service returned no consistency proof ${sizes}` };
    verifyConsistency({
      from: small.size,
      to: large.size,
      fromRoot: small.rootHash,
      toRoot: large.rootHash,
      hashes: consistency.hashes.map(hashFromHex),
    });
    return null;
  } catch (error) {
    if (error instanceof ProofError)
      return { refused: false, detail: `the consistency proof ${sizes} is not valid: ${error.message}` };
    // A service that can't prove what it signed is no network failure; a network failure proves
    // nothing either way.
    if (error instanceof ServiceError && isPermanentRefusal(error))
      return { refused: true, detail: `the service returned no proof ${sizes}: ${error.message}` };
    throw error;
  }
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
