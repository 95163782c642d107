import { openCheckpoint, parseCheckpoint, type OpenedCheckpoint } from "../notes/checkpoint.ts";
import { parseNote } from "../notes/note.ts";
import { noteVerifier, type NoteVerifier } from "../notes/verifier-key.ts";
import { ProofError } from "../proof-error.ts";

/** More generations than any log has. */
export const MAX_GENERATION = 9999;

/** A log's name: that of its first generation, and which generation it is. */
export interface LogName {
  first: string;
  /** From 1. */
  generation: number;
}

const LATER = /^(.*\/org_[0-7][0-9a-hjkmnp-tv-z]{25})\/([^/]*)$/s;

/**
 * Reads the origin of a checkpoint: `<log host>/<org_id>`, and for the later generations of a log
 * that lost entries `<log host>/<org_id>/2`, `/3` and so on. Throws `generation_invalid` for any
 * other end, such as `/1` or `/02`.
 */
export function parseLogName(origin: string): LogName {
  const [, first, number] = LATER.exec(origin) ?? [];
  if (first === undefined || number === undefined) return { first: origin, generation: 1 };
  const generation = Number(number);
  if (!/^[1-9][0-9]{0,3}$/.test(number) || generation < 2)
    throw new ProofError("generation_invalid", `${origin} is not the name of a log's generation`);
  return { first, generation };
}

/** The origin of a generation. */
export function formatLogName({ first, generation }: LogName): string {
  return generation === 1 ? first : `${first}/${generation}`;
}

/** Whether this is the origin of any generation of the organisation's log. */
export function isLogOf(origin: string, orgId: string): boolean {
  try {
    return parseLogName(origin).first.endsWith(`/${orgId}`);
  } catch (error) {
    if (error instanceof ProofError) return false;
    throw error;
  }
}

/** The log's key under the name of its first generation, whichever generation's name it has. */
export function firstGenerationKey(log: NoteVerifier): NoteVerifier {
  const { first, generation } = parseLogName(log.name);
  return generation === 1 ? log : noteVerifier(first, log.algorithm, log.publicKey);
}

/**
 * The log's key under the name of that generation: one key signs for all generations of a log.
 * Throws `generation_invalid` for an origin of another log.
 */
export function keyOfGeneration(log: NoteVerifier, origin: string): NoteVerifier {
  if (origin === log.name) return log;
  const [asked, known] = [parseLogName(origin), parseLogName(log.name)];
  if (asked.first !== known.first)
    throw new ProofError("generation_invalid", `${origin} is no generation of the log ${known.first}`);
  return noteVerifier(origin, log.algorithm, log.publicKey);
}

export interface OpenedLogCheckpoint extends OpenedCheckpoint {
  /** Of the log, from 1. Whether that generation began as it should is another question. */
  generation: number;
}

/**
 * Opens a checkpoint of any generation of this log. Throws what openCheckpoint throws, and
 * `generation_invalid`.
 */
export async function openLogCheckpoint(
  note: string | Uint8Array,
  log: NoteVerifier,
  cosigners: readonly NoteVerifier[] = [],
): Promise<OpenedLogCheckpoint> {
  const { origin } = parseCheckpoint(parseNote(note).text);
  const { first, generation } = parseLogName(origin);
  const isOther = first !== parseLogName(log.name).first;
  // The log's own key then says what is wrong: there is no signature by it.
  const opened = await openCheckpoint(note, isOther ? log : keyOfGeneration(log, origin), cosigners);
  return { ...opened, generation };
}
