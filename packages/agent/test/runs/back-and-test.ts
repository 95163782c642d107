import type { EarlierTests } from "../../src/checks/earlier-tests/earlier-tests.ts";
import type { SourceConfig } from "../../src/config/source-config.ts";
import { type RestoreTestResult, restoreAndCheck } from "../../src/runs/restore-and-check.ts";
import { type MadeBackup, writeEncryptedDump } from "../../src/runs/write-encrypted-dump.ts";
import { type Resealed, sizeOf, type TestPlace } from "./scratch.ts";

const never = new AbortController().signal;
const definitionsKey = Buffer.alloc(32, 9);

export const backUp = (place: TestPlace, source: SourceConfig, signal = never): Promise<MadeBackup> =>
  writeEncryptedDump({
    source,
    recipients: [place.recipient],
    blobsDir: place.blobs,
    scratchDir: place.scratch,
    definitionsKey,
    signal,
  });

interface Otherwise {
  /** Other bytes in the place of the backup's. */
  readonly instead?: Resealed;
  /** What earlier tests saw. */
  readonly seen?: EarlierTests | null | undefined;
  /** Replaces fields that the backup's receipt has. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** Fields that are taken out of the backup's receipt. */
  readonly without?: readonly string[];
}

/** A restore test of a backup, as its receipt describes it, or otherwise. */
export function testBackup(
  place: TestPlace,
  source: SourceConfig,
  made: Pick<MadeBackup, "path" | "sha256" | "sourceMetadata">,
  { instead = made, seen, metadata, without = [] }: Otherwise = {},
): Promise<RestoreTestResult> {
  const said = Object.entries({ ...made.sourceMetadata, ...sizeOf(instead), ...metadata });
  // As it came over the wire.
  const overTheWire = JSON.stringify(Object.fromEntries(said.filter(([name]) => !without.includes(name))));
  return restoreAndCheck({
    source,
    ciphertext: { path: instead.path },
    sha256: instead.sha256,
    identities: [place.identity],
    scratchDir: place.scratch,
    backupMetadata: JSON.parse(overTheWire) as Record<string, unknown>,
    ...(seen === undefined || seen === null ? {} : { seen }),
    signal: never,
  });
}
