import { randomBytes } from "node:crypto";
import { newId, type KeptBackups } from "@attestore/contract";
import {
  DRAW_DECLARED,
  drawCommitment,
  formatNote,
  MAX_CANDIDATES,
  noteSignatureLine,
  openDraw,
  parseNote,
  ProofError,
  toBase64,
  fromEitherBase64,
  toHex,
  type Draw,
  type ReplacedDraw,
  plural,
} from "@attestore/proof";
import type { Config } from "../../config/config.ts";
import type { SourceConfig } from "../../config/source-config.ts";
import { RunError } from "../../errors/run-error.ts";
import { closeDraw, readOpenDraw, saveOpenDraw, type OpenDraw } from "../../journal/open-draw.ts";
import { isDrawUsed } from "../../receipts/receipt-history.ts";
import {
  isEventWaiting,
  readAcceptedEvent,
  spoolSignedEvent,
  type AcceptedEvent,
} from "../../receipts/spooled-event.ts";
import type { Attachment } from "../../service/attachment.ts";
import { ServiceError } from "../../transport/service-error.ts";
import { resolveSourceId } from "./resolve-source.ts";
import { submitWaiting } from "./submit-waiting.ts";

/** A service that answers with ever more pages is not followed for ever. */
const MAX_PAGES = 200;

/**
 * The source's backups that the service keeps, oldest first. A backup that the service leaves out
 * is missing from the draws that the log has.
 * @throws RunError draw_unavailable for an older service; ServiceError
 */
export async function keptBackups(
  attachment: Attachment,
  config: Config,
  { slug }: SourceConfig,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const sourceId = await resolveSourceId(attachment, config, slug, { signal });
  try {
    const kept = new Set<string>();
    let cursor: string | null = null;
    for (let page = 0; page < MAX_PAGES; page++) {
      const answer: KeptBackups = await attachment.service.keptBackups(sourceId, cursor, { signal });
      for (const id of answer.backup_ids) kept.add(id);
      if (answer.next_cursor === null) break;
      cursor = answer.next_cursor;
    }
    return [...kept].toSorted();
  } catch (error) {
    if (!(error instanceof ServiceError) || error.refusal?.error !== "not_found") throw error;
    throw unavailable(`the service does not list the backups of ${slug}: it has to be updated`, error);
  }
}

interface Drawing {
  readonly candidates: readonly string[];
  readonly signal: AbortSignal;
}

/**
 * Declares a draw in the log, or continues with the open one, and computes the chosen backup. The
 * caller holds the `work` lock.
 * @throws RunError draw_unavailable; ServiceError
 */
export async function drawBackup(
  attachment: Attachment,
  config: Config,
  source: SourceConfig,
  { candidates, signal }: Drawing,
): Promise<{ backupId: string; draw: Draw }> {
  const { layout } = attachment;
  const sourceId = await resolveSourceId(attachment, config, source.slug, { signal });
  const of = { attachment, sourceId, slug: source.slug, signal };
  let open = await readOpenDraw(layout, sourceId);
  // A crash after the receipt was signed left the draw open.
  if (open?.decided && (await isDrawUsed(layout, sourceId, open.decided.draw.leaf.id))) open = null;
  // The root may have been attached again: an earlier agent's draws are not this one's.
  const drawn = open === null ? null : await decide(of, open);
  const before = drawn?.draw.leaf.actor_id === attachment.agentId ? drawn : null;
  if (before !== null && candidates.includes(before.backupId)) return before;
  // Nothing can be restored of a backup that is gone. The log keeps the draw, without a result.
  const declared = await declare(of, candidates, before);
  const decided = await decide(of, declared);
  if (decided !== null) return decided;
  throw unavailable(`the log has not recorded the draw of ${source.slug} yet, so nothing is drawn`);
}

interface Of {
  readonly attachment: Attachment;
  readonly sourceId: string;
  readonly slug: string;
  readonly signal: AbortSignal;
}

/**
 * The secret is on the disk before the declaration is signed, and the declaration before it goes.
 */
async function declare(
  { attachment: { layout }, sourceId, slug }: Of,
  kept: readonly string[],
  gone: { readonly backupId: string; readonly draw: Draw } | null,
): Promise<OpenDraw> {
  const candidates = kept.slice(0, MAX_CANDIDATES);
  if (candidates.length === 0) throw unavailable(`no backup of ${slug} is in the log yet`);
  const omitted = kept.length - candidates.length;
  const secret = randomBytes(32);
  const declared_at = new Date().toISOString();
  const open: OpenDraw = {
    v: 1,
    event: newId("event"),
    secret: toHex(secret),
    declared_at,
    decided: null,
  };
  await saveOpenDraw(layout, sourceId, open);
  const isSigned = await spoolSignedEvent(layout, open.event, {
    kind: DRAW_DECLARED,
    source_id: sourceId,
    occurred_at: declared_at,
    detail: {
      v: 1,
      message: `one of ${plural(candidates.length, "backup")} of ${slug} is drawn for a restore test`,
      candidates,
      ...(omitted === 0 ? {} : { omitted }),
      commitment: drawCommitment(secret),
      ...(gone === null ? {} : { replaces: shown(gone) }),
    },
  });
  if (isSigned) return open;
  await closeDraw(layout, sourceId);
  throw unavailable("nothing can be signed now, so no draw can be declared");
}

/** Which backup the draw had chosen, so that anybody can see that it is gone. */
function shown({ backupId, draw }: { backupId: string; draw: Draw }): ReplacedDraw {
  const { hashes, checkpoint, secret, leaf } = draw;
  return { event_id: leaf.id, backup_id: backupId, hashes, checkpoint, secret };
}

/** Null if the declaration is nowhere: a crash kept it from being signed. */
async function decide(of: Of, open: OpenDraw): Promise<{ backupId: string; draw: Draw } | null> {
  if (open.decided !== null) return { backupId: open.decided.backup_id, draw: open.decided.draw };
  const { attachment, sourceId, slug, signal } = of;
  const { layout, logKey } = attachment;
  if (await isEventWaiting(layout, open.event)) {
    const { stoppedBy } = await submitWaiting(attachment, { signal, once: false });
    if (stoppedBy !== null && (await isEventWaiting(layout, open.event)))
      throw unavailable(`the draw of ${slug} is not in the log yet: ${stoppedBy.message}`, stoppedBy);
  }
  const accepted = await readAcceptedEvent(layout, open.event);
  if (accepted === null) {
    if (await isEventWaiting(layout, open.event))
      throw unavailable(`the draw of ${slug} is not in the log yet`);
    return null;
  }
  const draw = await drawOf(of, open, accepted);
  try {
    const { backupId } = await openDraw(draw, logKey);
    await saveOpenDraw(layout, sourceId, { ...open, decided: { backup_id: backupId, draw } });
    return { backupId, draw };
  } catch (error) {
    if (!(error instanceof ProofError)) throw error;
    throw unavailable(`the service's answer does not decide the draw of ${slug}: ${error.message}`, error);
  }
}

/**
 * Only the first head that covers the declaration decides. A repeated call is answered with a later
 * one.
 */
async function drawOf(
  { attachment: { service }, slug, signal }: Of,
  open: OpenDraw,
  { envelope, answer }: AcceptedEvent,
): Promise<Draw> {
  if (envelope === undefined) throw unavailable(`the draw of ${slug} is not signed`);
  const { leaf, log_index } = answer;
  const size = log_index + 1;
  const { inclusion, checkpoint } =
    answer.inclusion_proof.tree_size === size
      ? { inclusion: answer.inclusion_proof, checkpoint: answer.checkpoint }
      : await service.logProof({ leaf: log_index, treeSize: size, from: null }, { signal });
  return {
    v: 1,
    statement: toBase64(fromEitherBase64(envelope.payload)),
    leaf,
    log_index,
    hashes: inclusion.hashes,
    checkpoint: withoutOthers(checkpoint),
    secret: open.secret,
  };
}

/** The note with the log's own signature alone: a receipt has room for that. */
function withoutOthers(checkpoint: string): string {
  const { text, signatures } = parseNote(checkpoint);
  const [origin] = text.split("\n");
  const own = signatures.filter(({ name }) => name === origin);
  return formatNote(
    text,
    own.map((line) => noteSignatureLine(line, line.signature)),
  );
}

function unavailable(why: string, cause?: unknown): RunError {
  return new RunError("draw_unavailable", why, { cause });
}
