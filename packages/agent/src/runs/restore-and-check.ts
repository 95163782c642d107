import type { RestoreTestPredicate } from "@attestore/proof";
import { isDiskFull } from "@attestore/host/errno";
import { type EarlierTests, verdict } from "../checks/index.ts";
import { type ForeignMetadata, type Restored, RestoreRefused, type Runtime } from "../engines/engine.ts";
import { findSandbox } from "../engines/index.ts";
import { type CiphertextSource, holdToDigest, readCiphertext } from "../crypto/ciphertext.ts";
import { DamagedCiphertext } from "../crypto/damaged.ts";
import { unseal } from "../crypto/unseal.ts";
import { dirname } from "node:path";
import { DEFAULT_LIMITS, type SourceLimits } from "../config/source-limits.ts";
import type { SourceConfig } from "../config/source-config.ts";
import { Confinement } from "../sandboxes/bounds/confinement.ts";
import { RestoreTooLarge } from "../sandboxes/bounds/restore-too-large.ts";
import { RunError, stopIfAborted } from "../errors/run-error.ts";
import { type TimeLimit, timeLimit } from "../engines/enforce-limits.ts";
import { holdToSignedSize } from "./hold-to-signed-size.ts";
import { checkBudgets } from "./check-budgets.ts";
import { localCopy, type LocalCopy } from "./local-copy.ts";
import type { OnProgress, Phase } from "./progress.ts";
import { openContentKey } from "./content-key.ts";
import { readCanaries } from "./read-canaries.ts";
import { SecondReading } from "./second-reading.ts";
import { runNegativeControls, type WhichControls } from "./run-negative-controls.ts";
import { runChecks } from "./run-checks.ts";

export interface TestRestoreRequest {
  readonly source: SourceConfig;
  /** All sources of this host: a test never restores into the data of any of them. */
  readonly sources?: readonly SourceConfig[];
  readonly ciphertext: CiphertextSource;
  /**
   * Downloads the stored ciphertext into its file again, because the first download is damaged.
   * Absent if the file itself is what is tested: then it is read again.
   */
  readonly downloadAgain?: () => Promise<void>;
  /** The backup's recorded digest, lower-case hex. */
  readonly sha256: string;
  /** `AGE-SECRET-KEY-1…` */
  readonly identities: readonly string[];
  /** Where plaintext may be stored while the test runs. */
  readonly scratchDir: string;
  /** The metadata in the backup's own record. */
  readonly backupMetadata: ForeignMetadata;
  /** Counts of passed restore tests; absent before the first. */
  readonly seen?: EarlierTests;
  /** Default `changed`. */
  readonly negativeControls?: WhichControls;
  readonly signal: AbortSignal;
  readonly onProgress?: OnProgress;
}

export interface RestoreTestResult extends Pick<RestoreTestPredicate, "result" | "checks" | "profile"> {
  /** The rows of tables that have no check of their own. */
  readonly unnamed?: ReadonlyMap<string, bigint>;
  /** Why the test failed. */
  readonly reason?: string;
  readonly runtime: Runtime;
  /**
   * Whole milliseconds. `decrypt_ms` is for reading the whole ciphertext to verify its digest;
   * decrypting and decompressing happen while the engine restores, in `restore_ms`. A second
   * reading, download included, is in that of the two in which the first one was damaged.
   */
  readonly phases: {
    readonly download_ms: number;
    readonly decrypt_ms: number;
    readonly restore_ms: number;
    readonly checks_ms: number;
  };
}

/**
 * Restores a backup into a throw-away place and runs its checks. `passed` needs all of these, in
 * this order: the digest of the whole ciphertext matches; it decrypts and decompresses to its end
 * (where either does not, it is read a second time);
 * the engine's own restore ends without error; at least one check read data and passed; no check
 * failed. Anything that prevents a result is an error, not a result. @throws RunError
 */
export async function restoreAndCheck(request: TestRestoreRequest): Promise<RestoreTestResult> {
  const { source, signal } = request;
  const limits = source.limits ?? DEFAULT_LIMITS;
  stopIfAborted(signal);
  requireItsEngine(source, request.backupMetadata);
  const canaries = await readCanaries(source.checks);
  const sandbox = await findSandbox(source, request.backupMetadata, request.sources);
  const { phases, timed } = timedPhases();
  const newConfinement = (): Confinement =>
    new Confinement(plaintextBytesOf(request.backupMetadata), {
      programs: programsOf(source),
      restoreDisk: limits.restoreDisk ?? null,
      restoreMemory: limits.restoreMemory ?? null,
    });
  let confinement = newConfinement();
  const runtimeUsed = (): Runtime => ({
    ...sandbox.runtime,
    ...(confinement.level === null ? {} : { isolation: confinement.level }),
  });
  let restored: Restored | null = null;
  let copy: LocalCopy | null = null;
  let time: TimeLimit | null = null;
  const reading = new SecondReading(async () => {
    // How long the store takes is not up to the data.
    time = null;
    await copy?.again();
    await request.downloadAgain?.();
  });
  try {
    const local = (copy = await timed("download_ms", () =>
      localCopy(request.ciphertext, request.scratchDir, signal, progressOf(request, "download")),
    ));
    await timed("decrypt_ms", () => reading.orAgain(() => verifyDigest(local.path, request)));
    const contentKey = await openContentKey(request.backupMetadata, request.identities);
    const { opened, within } = await timed("restore_ms", () =>
      reading.orAgain(async (isSecond) => {
        if (isSecond) await verifyDigest(local.path, request);
        confinement = newConfinement();
        // From here on, the data influences how long the test takes.
        const limit = (time = timeLimit(limits, signal)).signal;
        const opened = await sandbox.restore(plaintextOf(local.path, request, limits), {
          scratchDir: request.scratchDir,
          signal: limit,
          limits,
          confinement,
          ...(contentKey === null ? {} : { contentKey }),
        });
        return { opened, within: limit };
      }),
    );
    restored = opened;
    const budgets = checkBudgets(phases.restore_ms, limits);
    const seen = request.seen ?? null;
    const ran = await timed("checks_ms", () =>
      runChecks(opened, {
        source,
        canaries,
        metadata: request.backupMetadata,
        seen,
        runtime: sandbox.runtime,
        contentKey,
        budgets,
        signal: within,
        onDone: progressOf(request, "checks"),
      }),
    );
    confinement.requireWithin();
    const checks = await runNegativeControls(opened, ran.outcomes, {
      source,
      canaries,
      seen,
      which: request.negativeControls ?? "changed",
      budget_ms: budgets.content_ms,
      signal: within,
    });
    stopIfAborted(signal);
    return {
      ...verdict(ran.outcomes, ran.readData),
      runtime: runtimeUsed(),
      phases,
      checks: [...checks, ...reading.checks(request.sha256)],
      unnamed: ran.unnamed,
      ...(ran.profile === null ? {} : { profile: ran.profile }),
    };
  } catch (caught) {
    stopIfAborted(signal);
    const ended = confinement.whatEnded(caught);
    const why = isOutOfTime(time, ended) ? outOfTime(limits) : whyItFailed(ended, request);
    const reason = `${why}${reading.note(ended)}`;
    return { result: "failed", reason, runtime: runtimeUsed(), phases, checks: [] };
  } finally {
    await restored?.close();
    await copy?.remove();
  }
}

type Phases = RestoreTestResult["phases"];

function timedPhases(): {
  readonly phases: Phases;
  readonly timed: <Result>(phase: keyof Phases, work: () => Promise<Result>) => Promise<Result>;
} {
  const phases = { download_ms: 0, decrypt_ms: 0, restore_ms: 0, checks_ms: 0 };
  return {
    phases,
    timed: async (phase, work) => {
      const started = performance.now();
      try {
        return await work();
      } finally {
        phases[phase] = Math.round(performance.now() - started);
      }
    },
  };
}

/** What the engine restores: the whole dump, or an error where it is damaged or too long. */
function plaintextOf(path: string, request: TestRestoreRequest, limits: SourceLimits): AsyncIterable<Buffer> {
  const plaintext = unseal(readCiphertext({ path }), request.identities);
  return counted(
    holdToSignedSize(plaintext, request.backupMetadata["plaintext_size_bytes"], limits),
    progressOf(request, "restore"),
  );
}

/** Damage that was found counts, also if the time was up while its restore was stopped. */
function isOutOfTime(time: TimeLimit | null, error: unknown): boolean {
  return time?.isUp() === true && !(error instanceof DamagedCiphertext);
}

/**
 * A dump's maker could make it endless. That counts as a failure: otherwise they could choose that
 * there is no result.
 */
function outOfTime({ time_s }: SourceLimits): string {
  return `the restore and its checks did not end within ${time_s} s: if they need longer, raise the source's limits.time_s in config.yaml`;
}

/** Throws what prevents a result; all else is the backup's fault. */
function whyItFailed(error: unknown, { scratchDir }: TestRestoreRequest): string {
  if (
    error instanceof DamagedCiphertext ||
    error instanceof RestoreRefused ||
    error instanceof RestoreTooLarge
  )
    return error.message;
  if (!isDiskFull(error)) throw error;
  throw new RunError("disk_full", `no space left in ${scratchDir} for the restore test: give it more space`, {
    cause: error,
  });
}

/** Where the commands of checks are found. */
function programsOf({ checks }: SourceConfig): string[] {
  return checks.flatMap((check) => ("command" in check ? [dirname(check.command[0] ?? "")] : []));
}

/** As the maker signed it; unknown for a backup that refers to another backup's dump. */
function plaintextBytesOf(metadata: ForeignMetadata): number | null {
  const { plaintext_size_bytes: bytes, original } = metadata;
  return original === undefined && typeof bytes === "number" && Number.isSafeInteger(bytes) && bytes >= 0
    ? bytes
    : null;
}

/**
 * A source's engine may have been changed. The new engine would report every earlier backup as
 * broken.
 */
function requireItsEngine({ slug, engine }: SourceConfig, { engine: before }: ForeignMetadata): void {
  if (typeof before !== "string" || familyOf(before) === familyOf(engine)) return;
  throw new RunError(
    "sandbox_lacks",
    `the backup was made with the engine ${before}, but the source ${slug} now uses ${engine}: ` +
      `make a new backup (attestore backup --source ${slug}), and test that`,
  );
}

/** MariaDB and MySQL are one engine; a backup records which of them the server was. */
function familyOf(engine: string): string {
  return engine === "mysql" ? "mariadb" : engine;
}

async function verifyDigest(path: string, request: TestRestoreRequest): Promise<void> {
  const onBytes = progressOf(request, "decrypt");
  for await (const _ of counted(holdToDigest(readCiphertext({ path }), request.sha256), onBytes))
    stopIfAborted(request.signal);
}

async function* counted(
  pieces: AsyncIterable<Buffer>,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Buffer, void, undefined> {
  let bytes = 0;
  for await (const piece of pieces) {
    yield piece;
    bytes += piece.length;
    onBytes(bytes);
  }
}

function progressOf({ onProgress }: TestRestoreRequest, phase: Phase): (bytes: number) => void {
  return (bytes) => onProgress?.({ phase, bytes });
}
