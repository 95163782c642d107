import type { EarlierTests } from "../../src/checks/earlier-tests.ts";
import type { SourceConfig } from "../../src/config/source-config.ts";
import { type RestoreTestResult, restoreAndCheck } from "../../src/runs/restore-and-check.ts";
import { type MadeBackup, writeEncryptedDump } from "../../src/runs/write-encrypted-dump.ts";
import { type Resealed, sizeOf, type TestPlace } from "./scratch.ts";

const never = new AbortController().signal;

export const backUp = (place: TestPlace, source: SourceConfig): Promise<MadeBackup> =>
  writeEncryptedDump({
    source,
    recipients: [place.recipient],
    blobsDir: place.blobs,
    scratchDir: place.scratch,
    signal: never,
  });

/** A restore test of a backup, or of other bytes in its place, after tests that saw something. */
export function testBackup(
  place: TestPlace,
  source: SourceConfig,
  made: MadeBackup,
  { instead = made, seen }: { readonly instead?: Resealed; readonly seen?: EarlierTests | undefined } = {},
): Promise<RestoreTestResult> {
  return restoreAndCheck({
    source,
    ciphertext: { path: instead.path },
    sha256: instead.sha256,
    identities: [place.identity],
    scratchDir: place.scratch,
    // As it came over the wire.
    backupMetadata: JSON.parse(JSON.stringify({ ...made.sourceMetadata, ...sizeOf(instead) })) as Record<
      string,
      unknown
    >,
    ...(seen === undefined ? {} : { seen }),
    signal: never,
  });
}
