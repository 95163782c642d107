import { timeOfId } from "@attestore/contract";
import { PROOF_AGE_S, type Draw } from "@attestore/proof";
import type { BackupBackend } from "../../backends/backup-backend.ts";
import type { Config } from "../../config/config.ts";
import type { SourceConfig } from "../../config/source-config.ts";
import { RunError } from "../../errors/run-error.ts";
import { rememberTestable } from "../../journal/testable-backups.ts";
import { lastPassed } from "../../receipts/receipt-history.ts";
import { ServiceError } from "../../transport/service-error.ts";

/** One backup to test. Without an id, the newest. */
export interface PlannedTest {
  readonly backupId: string | undefined;
  /** How it was drawn, if it was and if that can be proven. */
  readonly draw: Draw | null;
}

export interface Plan {
  readonly tests: readonly PlannedTest[];
  /**
   * The reason why no backup could be picked. The newest is tested all the same, if that is due.
   */
  readonly failure: RunError | ServiceError | null;
}

export interface Asked {
  /** The backup that somebody names. */
  readonly backupId: string | undefined;
  /**
   * When the service's command was issued. It names the newest backup where nobody named one. Null
   * for a person.
   */
  readonly issuedAt: string | null;
  readonly signal: AbortSignal;
}

/** A newest backup that passed longer ago is tested again, before its proof is too old to count. */
const NEWEST_AGAIN_MS = (PROOF_AGE_S * 1000) / 2;

/**
 * The backups that a run tests, in order. A source that picks older ones has its newest backup
 * tested first, unless it passed lately: otherwise nobody would know of it until it is old. The
 * caller holds the `work` lock.
 * @throws UserError; RunError, ServiceError if nothing is left to test
 */
export async function planTests(
  backend: BackupBackend,
  config: Config,
  source: SourceConfig,
  { backupId, issuedAt, signal }: Asked,
): Promise<Plan> {
  const named = [{ backupId, draw: null }];
  const { pick = "newest" } = source;
  if (pick === "newest" || (backupId !== undefined && issuedAt === null))
    return { tests: named, failure: null };
  let first: readonly PlannedTest[] = named;
  try {
    const kept = await backend.kept(config, source, signal);
    if (backupId !== undefined && backupId !== newestAt(kept, issuedAt))
      return { tests: named, failure: null };
    await rememberTestable(backend.layout, source.slug, kept);
    first = await dueNewest(backend, kept.at(-1));
    const picked =
      pick === "random"
        ? await backend.draw(config, source, kept, signal)
        : { backupId: kept[0], draw: null };
    return { tests: [...first.filter((test) => test.backupId !== picked.backupId), picked], failure: null };
  } catch (error) {
    if (!(error instanceof RunError || error instanceof ServiceError) || first.length === 0) throw error;
    return { tests: first, failure: error };
  }
}

/** The newest of these backups at that time. */
function newestAt(kept: readonly string[], at: string | null): string | undefined {
  const until = at === null ? Infinity : Date.parse(at);
  return kept.findLast((id) => timeOfId(id) <= until);
}

async function dueNewest({ layout }: BackupBackend, newest: string | undefined): Promise<PlannedTest[]> {
  const passedAt = newest === undefined ? null : await lastPassed(layout, newest);
  const isDue = passedAt === null || Date.now() - Date.parse(passedAt) > NEWEST_AGAIN_MS;
  return isDue ? [{ backupId: newest, draw: null }] : [];
}
