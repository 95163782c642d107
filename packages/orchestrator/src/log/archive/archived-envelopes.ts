import { isId } from "@attestore/contract";
import { MAX_ENVELOPE_SIZE, parseEnvelope, ProofError, sha256 } from "@attestore/proof";
import { sql } from "kysely";
import { fetched, FetchFirst } from "../../platform/database/fetch-first.ts";
import type { ServiceFiles } from "../../platform/objects/service-files.ts";
import { envelopeSha256 } from "../envelope-sha256.ts";
import { LogCorruption } from "../log-corruption.ts";
import { archiveName, FILE_ENTRIES } from "./archive-file.ts";

/** Where a receipt's envelope is: in its row, or in a file of the archive. */
export interface EnvelopePlace {
  id: string;
  org_id: string;
  log_index: number;
  envelope_sha256: Buffer;
  envelope: Buffer | null;
  archived_in: Buffer | null;
  archived_start: number | null;
  archived_length: number | null;
}

export const ENVELOPE_PLACE = [
  "id",
  "org_id",
  "log_index",
  "envelope_sha256",
  "envelope",
  "archived_in",
  "archived_start",
  "archived_length",
] as const;

/** How long it is, wherever it is. */
export const ENVELOPE_BYTES = sql<number>`coalesce(archived_length, octet_length(envelope))`;

/** For the next calls; what one transaction needs is kept until it ends. */
const REMEMBERED_BYTES = 32 * 1024 * 1024;
/** What lies between two envelopes is read with them if it is no more than this. */
const MAX_GAP = 64 * 1024;
const MAX_READ = 4 * 1024 * 1024;
const READS_AT_ONCE = 8;

/** Reads envelopes, wherever they are, and remembers those of the archive for a while. */
export class ArchivedEnvelopes {
  readonly #files: ServiceFiles;
  /** By receipt, the one that was used last at the end. */
  readonly #remembered = new Map<string, Buffer>();
  readonly #mostBytes: number;
  #bytes = 0;

  constructor(files: ServiceFiles, rememberedBytes = REMEMBERED_BYTES) {
    this.#files = files;
    this.#mostBytes = rememberedBytes;
  }

  /**
   * The same rows, each with its envelope. Throws FetchFirst if some are in the archive and not in
   * memory; fetching throws LogCorruption if a file is missing or damaged.
   */
  complete<Row extends EnvelopePlace>(rows: readonly Row[]): (Row & { envelope: Buffer })[] {
    const whole: (Row & { envelope: Buffer })[] = [];
    const absent: EnvelopePlace[] = [];
    for (const row of rows) {
      const envelope = row.envelope ?? fetched()?.get(row.id) ?? this.#recall(row.id);
      if (envelope === null) absent.push(row);
      else whole.push({ ...row, envelope });
    }
    if (absent.length > 0) throw new FetchFirst(() => this.#fetch(absent));
    return whole;
  }

  async #fetch(places: readonly EnvelopePlace[]): Promise<void> {
    for (const [id, envelope] of await readArchived(this.#files, places)) {
      if (typeof envelope === "string") throw new LogCorruption("log_incomplete", `${id}: ${envelope}`);
      fetched()?.set(id, envelope);
      this.#remember(id, envelope);
    }
  }

  #recall(id: string): Buffer | null {
    const envelope = this.#remembered.get(id);
    if (envelope === undefined) return null;
    this.#remembered.delete(id);
    this.#remembered.set(id, envelope);
    return envelope;
  }

  #remember(id: string, envelope: Buffer): void {
    this.#bytes += envelope.length - (this.#remembered.get(id)?.length ?? 0);
    this.#remembered.delete(id);
    this.#remembered.set(id, envelope);
    for (const [oldest, { length }] of this.#remembered) {
      if (this.#bytes <= this.#mostBytes) break;
      this.#remembered.delete(oldest);
      this.#bytes -= length;
    }
  }
}

/**
 * The envelopes of receipts that are in the archive, by receipt; or in words what is wrong. Each is
 * compared with what the receipt's row, and so its leaf, says of it.
 */
export async function readArchived(
  files: ServiceFiles,
  places: readonly EnvelopePlace[],
): Promise<Map<string, Buffer | string>> {
  const found = new Map<string, Buffer | string>();
  const parts = places.flatMap((place) => {
    const part = partOf(place);
    if (typeof part !== "string") return [part];
    found.set(place.id, part);
    return [];
  });
  const reads = readsOf(parts);
  for (let at = 0; at < reads.length; at += READS_AT_ONCE)
    await Promise.all(reads.slice(at, at + READS_AT_ONCE).map((read) => take(files, read, found)));
  return found;
}

interface Part {
  place: EnvelopePlace;
  name: string;
  start: number;
  length: number;
}

interface Read {
  name: string;
  start: number;
  length: number;
  parts: Part[];
}

/** In words what is wrong with a damaged row, which may say anything. */
function partOf(place: EnvelopePlace): Part | string {
  const { org_id, log_index, archived_in, archived_start: start, archived_length: length } = place;
  if (archived_in === null || start === null || length === null)
    return "its row has no envelope, and does not say where in the archive it is";
  const isPlace = start >= 0 && length > 0 && length <= MAX_ENVELOPE_SIZE && log_index >= 0;
  if (!isPlace || !isId("org", org_id)) return "its row names a place that the archive cannot have";
  return {
    place,
    name: archiveName(org_id, Math.floor(log_index / FILE_ENTRIES), archived_in),
    start,
    length,
  };
}

/** Neighbours in a file are read together. */
function readsOf(parts: readonly Part[]): Read[] {
  const reads: Read[] = [];
  for (const part of parts.toSorted((a, b) =>
    a.name === b.name ? a.start - b.start : a.name < b.name ? -1 : 1,
  )) {
    const last = reads.at(-1);
    const end = part.start + part.length;
    if (
      last?.name === part.name &&
      part.start - (last.start + last.length) <= MAX_GAP &&
      end - last.start <= MAX_READ
    ) {
      last.length = Math.max(last.length, end - last.start);
      last.parts.push(part);
    } else reads.push({ name: part.name, start: part.start, length: part.length, parts: [part] });
  }
  return reads;
}

async function take(files: ServiceFiles, read: Read, found: Map<string, Buffer | string>): Promise<void> {
  const bytes = await files.read(read.name, { start: read.start, length: read.length });
  for (const { place, start, length } of read.parts) {
    // A copy, so that what is remembered does not keep all that was read.
    const envelope =
      bytes === null ? null : Buffer.from(bytes.subarray(start - read.start, start - read.start + length));
    if (envelope === null) found.set(place.id, `the archive's file ${read.name} is missing or too short`);
    else if (isOf(place, envelope)) found.set(place.id, envelope);
    else found.set(place.id, `the archive's file ${read.name} has another envelope at its place`);
  }
}

function isOf({ envelope_sha256 }: EnvelopePlace, bytes: Buffer): boolean {
  try {
    const envelope = parseEnvelope(bytes);
    return envelopeSha256(sha256(envelope.payload), envelope).equals(envelope_sha256);
  } catch (error) {
    if (error instanceof ProofError) return false;
    throw error;
  }
}
