import {
  hashFromHex,
  HASH_SIZE,
  ManifestReader,
  PACK_FILES,
  type PackFileEntry,
  type PackHeader,
  Sha256,
  toHex,
} from "@attestore/proof";
import type { ZipReader } from "../../zip/zip-reader.ts";
import { Findings } from "../findings.ts";

/** A line of the manifest: a path of at most 200 characters, a size and a digest. */
const MAX_LINE = 400;
/** The JSON around the lines. */
const MAX_HEADER = 4096;
/** No file of a pack but these is missing from its manifest. */
const BESIDES: readonly string[] = [PACK_FILES.manifest, PACK_FILES.manifestNote];

/** What the manifest says of the pack's files, by their numbers. */
export interface Listed {
  manifestSha256: string;
  /** How many files it lists, also those that are not in the pack. */
  count: number;
  isListed: Uint8Array;
  /** Whether the size there is not the one in the ZIP. */
  hasOtherSize: Uint8Array;
  /** 32 bytes for each file. */
  digests: Uint8Array;
}

/**
 * Reads the manifest line by line, and compares its paths with those of the pack: each takes the
 * digest's bytes and no more. Throws ProofError, UnknownFormat or ZipError.
 */
export async function readManifest(
  zip: ZipReader,
): Promise<{ header: PackHeader; listed: Listed; findings: Findings }> {
  const findings = new Findings();
  const listed = {
    count: 0,
    isListed: new Uint8Array(zip.count),
    hasOtherSize: new Uint8Array(zip.count),
    digests: new Uint8Array(zip.count * HASH_SIZE),
  };
  const add = ({ path, size_bytes, sha256 }: PackFileEntry): void => {
    const file = BESIDES.includes(path) ? -1 : zip.find(path);
    if (file === -1) findings.fail("manifest", `${path} is in the manifest but not in the pack`);
    else if (listed.isListed[file] === 1) return findings.fail("manifest", "it lists a file twice");
    else {
      listed.isListed[file] = 1;
      listed.hasOtherSize[file] = size_bytes === zip.sizeAt(file) ? 0 : 1;
      listed.digests.set(hashFromHex(sha256), file * HASH_SIZE);
    }
    listed.count += 1;
  };
  const reader = new ManifestReader();
  const hash = new Sha256();
  // No more than the pack's files need: hundreds of kilobytes may unpack to hundreds of megabytes.
  for await (const bytes of zip.chunks(PACK_FILES.manifest, MAX_HEADER + MAX_LINE * zip.count)) {
    hash.update(bytes);
    for (const file of reader.add(bytes)) add(file);
  }
  const header = reader.end();
  for (let file = 0; file < zip.count; file += 1)
    if (listed.isListed[file] === 0 && !BESIDES.includes(zip.pathAt(file)))
      findings.fail("manifest", `${zip.pathAt(file)} is in the pack but not in the manifest`);
  return { header, listed: { manifestSha256: toHex(hash.digest()), ...listed }, findings };
}
