import {
  PACK_FILES,
  ManifestReader,
  parseLogName,
  parseLogRange,
  ProofError,
  UnknownFormat,
} from "@attestore/proof";
import { CannotTell } from "../../cannot-tell.ts";
import { ZipError } from "../../zip/zip-error.ts";
import { ZipReader } from "../../zip/zip-reader.ts";
import type { ZipSource } from "../../zip/zip-source.ts";

const MAX_MANIFEST = 256 * 1024 * 1024;
const MAX_RANGE = 1024 * 1024;

/**
 * What a pack says of its log, before anything is verified: it only chooses keys and what is
 * compared.
 */
export interface ClaimedLog {
  /** Of its first generation. */
  origin: string;
  sizes: readonly number[];
}

/** What the pack's own verdict reports. */
const REPORTED = [ZipError, ProofError, UnknownFormat, CannotTell];

/** Null if the pack does not say, which its own verdict reports. */
export async function claimedLog(open: () => Promise<ZipSource>): Promise<ClaimedLog | null> {
  try {
    const zip = await ZipReader.open(await open());
    try {
      const reader = new ManifestReader();
      for await (const bytes of zip.chunks(PACK_FILES.manifest, MAX_MANIFEST)) reader.add(bytes);
      const { log } = reader.end();
      const { to_index } = parseLogRange(await zip.read(PACK_FILES.range, MAX_RANGE));
      return { origin: parseLogName(log.origin).first, sizes: [log.tree_size, to_index] };
    } finally {
      await zip.close();
    }
  } catch (error) {
    if (REPORTED.some((kind) => error instanceof kind)) return null;
    throw error;
  }
}

/** Sizes of the log at which packs can be compared: those of their checkpoints and ranges. */
export async function sizesToCompare(packs: readonly (() => Promise<ZipSource>)[]): Promise<Set<number>> {
  if (packs.length < 2) return new Set();
  const claims: (ClaimedLog | null)[] = [];
  for (const open of packs) claims.push(await claimedLog(open));
  return new Set(claims.flatMap((claimed) => claimed?.sizes ?? []));
}
