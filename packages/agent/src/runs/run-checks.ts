import type { CheckOutcome, Profile } from "@attestore/proof";
import {
  type Canary,
  digestCheck,
  evaluateCanary,
  evaluateCheck,
  keptCheck,
  kindsCheck,
  type EarlierTests,
  totalRowsCheck,
  withoutCanaries,
} from "../checks/index.ts";
import type { FinishAlone, ForeignMetadata, Restored, Runtime } from "../engines/engine.ts";
import type { SourceConfig } from "../config/source-config.ts";
import { sideBySide } from "../processes/side-by-side.ts";
import type { CheckBudgets } from "./check-budgets.ts";
import { profileCopy, suspicionChecks } from "./profile-copy.ts";
import { runCommandCheck } from "./run-command-check.ts";

export interface ChecksToRun {
  readonly source: SourceConfig;
  /** Of `readCanaries`. */
  readonly canaries: ReadonlyMap<string, Canary>;
  readonly metadata: ForeignMetadata;
  /** Counts of passed restore tests; null before the first. */
  readonly seen: EarlierTests | null;
  readonly runtime: Runtime;
  readonly signal: AbortSignal;
  /** Of `openContentKey`. */
  readonly contentKey: Buffer | null;
  readonly budgets: CheckBudgets;
  onDone(checks: number): void;
}

export interface RanChecks {
  readonly outcomes: readonly CheckOutcome[];
  /** The number of checks known to have read restored data. */
  readonly readData: number;
  /** The rows of tables that have no check of their own. */
  readonly unnamed: ReadonlyMap<string, bigint>;
  readonly profile: Profile | null;
}

/**
 * Runs the configured checks and the built-in ones. Without a check that read data, the test does
 * not pass. Commands run last, so no change that they make to the restored data affects another
 * check. Nobody can see which data a command read, so commands alone are not a pass. A check that
 * exceeds its time has failed: its query may be too expensive, or the data may make it endless, and
 * neither may prevent a result. @throws RunError
 */
export async function runChecks(restored: Restored, run: ChecksToRun): Promise<RanChecks> {
  const { source, canaries, metadata, seen, signal } = run;
  const unnamed = new Map<string, bigint>();
  const outcomes = [
    ...(await restored.inferredChecks({
      metadata,
      seen,
      countBudget_s: run.budgets.count_s,
      onUnnamed: (table, rows) => void unnamed.set(table, rows),
      signal,
    })),
  ];
  let readData = outcomes.length;
  const total = totalRowsCheck(outcomes, seen);
  const kept = seen === null ? null : keptCheck((await restored.tables?.(signal)) ?? [], seen);
  // Name the missing tables first: that says more than what follows from it.
  if (kept !== null) outcomes.unshift(kept);
  if (total !== null) outcomes.push(total);
  const add = (outcome: CheckOutcome, seen: readonly string[]): void => {
    outcomes.push(withoutCanaries(outcome, seen, [...canaries.values()]));
    run.onDone(outcomes.length);
  };
  run.onDone(outcomes.length);
  for (const check of source.checks) {
    if ("command" in check) continue;
    const started = performance.now();
    const outcome = await restored.query(check.query, { timeout_s: source.checkTimeout_s, signal });
    const duration_ms = performance.now() - started;
    if (outcome.kind === "rows" && outcome.readsNoData !== true) readData++;
    if (!("canary" in check)) {
      add(evaluateCheck(check, outcome, duration_ms), outcome.kind === "rows" ? outcome.rows : []);
      continue;
    }
    const canary = canaries.get(check.id);
    if (canary === undefined) throw new Error("a canary check without its canary");
    add(evaluateCanary(check, canary, outcome, duration_ms), []);
  }
  // Objects and the schema alone are not data. They count only if another check read data.
  const kinds = readData === 0 ? null : await objectsLeft(restored, run);
  if (kinds !== null) add(kinds, []);
  const schema = readData === 0 ? null : await schemaCheck(restored, run);
  if (schema !== null) add(schema, []);
  // All of them share the cores, so that none waits for another's last table or index. None of them
  // runs code of the dump. Those that may do so come last, one after the other, because such code
  // could end the others' sessions.
  const [compared, profile, ...finish] =
    readData === 0
      ? [[], null]
      : await sideBySide<[readonly CheckOutcome[], Profile | null, FinishAlone, FinishAlone]>(signal, [
          (within) => contentChecks(restored, { ...run, signal: within }),
          (within) =>
            profileCopy(restored, {
              key: run.contentKey,
              seen,
              budget_ms: run.budgets.profile_ms + besideOthers_ms(run),
              signal: within,
            }),
          (within) => constraintChecks(restored, { ...run, signal: within }),
          (within) => indexChecks(restored, { ...run, signal: within }),
        ]);
  const integrity: CheckOutcome[] = [];
  for (const finishAlone of finish) integrity.push(...(await finishAlone(signal)));
  for (const each of [...compared, ...integrity]) add(each, []);
  for (const suspicion of suspicionChecks(profile, source)) add(suspicion, []);
  for (const check of source.checks) {
    if (!("command" in check)) continue;
    const { outcome, seen } = await runCommandCheck(restored, check, {
      timeout_s: source.checkTimeout_s,
      signal,
    });
    add(outcome, seen);
  }
  return { outcomes: withFewTexts(outcomes), readData, unnamed, profile };
}

async function objectsLeft(restored: Restored, { seen, signal }: ChecksToRun): Promise<CheckOutcome | null> {
  const started = performance.now();
  const kinds = await restored.objectKinds?.(signal);
  return kinds === undefined ? null : kindsCheck({ kinds, seen, duration_ms: performance.now() - started });
}

/** Constraints are looked at in this time, however long the restore took. */
const CONSTRAINTS_MS = 30_000;
/** The restore has just built the indexes, so there is little to find. */
const INDEXES_MS = 5_000;
/** How many times as long something may take that shares the cores with others. */
const SHARED = 3;

const NOTHING_LEFT: FinishAlone = () => Promise.resolve([]);

async function constraintChecks(restored: Restored, { budgets, signal }: ChecksToRun): Promise<FinishAlone> {
  const alone_ms = Math.min(CONSTRAINTS_MS, budgets.content_ms);
  const limits = { beside_ms: Math.min(SHARED * alone_ms, budgets.content_ms), alone_ms, signal };
  return (await restored.checkConstraints?.(limits)) ?? NOTHING_LEFT;
}

async function indexChecks(restored: Restored, { budgets, signal }: ChecksToRun): Promise<FinishAlone> {
  const alone_ms = Math.min(INDEXES_MS, budgets.content_ms);
  const limits = { beside_ms: Math.min(SHARED * alone_ms, budgets.content_ms), alone_ms, signal };
  return (await restored.checkIndexes?.(limits)) ?? NOTHING_LEFT;
}

/** Time that constraints and indexes may take from the others, who get it on top. */
function besideOthers_ms({ budgets }: ChecksToRun): number {
  return Math.min(CONSTRAINTS_MS + INDEXES_MS, budgets.content_ms / 2);
}

/** How many a receipt has room for. */
const MAX_TEXTS = 20;

/**
 * If all tables were emptied, the receipt must still have room for each count, but not for each
 * text.
 */
function withFewTexts(outcomes: readonly CheckOutcome[]): CheckOutcome[] {
  let texts = 0;
  return outcomes.map((outcome) => {
    if (!outcome.id.startsWith("inferred:rows:") || outcome.observed["error"] === undefined) return outcome;
    texts += 1;
    if (texts <= MAX_TEXTS) return outcome;
    const { error: _, ...observed } = outcome.observed;
    return { ...outcome, observed };
  });
}

async function contentChecks(restored: Restored, run: ChecksToRun): Promise<readonly CheckOutcome[]> {
  const { metadata, contentKey: key, signal } = run;
  if (key === null || restored.compareContent === undefined) return [];
  const budget_ms = run.budgets.content_ms + besideOthers_ms(run);
  return restored.compareContent({ metadata, key, budget_ms, signal });
}

const OTHER_SCHEMA =
  "the restored copy has another schema than the backup: something in it, such as a column, an index or a view, is missing, added or different. " +
  "inferred:objects names it if it was compared. Keep this backup, make another and test that one; if it differs too, compare the schema of a restored copy with the source's";

async function schemaCheck(
  restored: Restored,
  { metadata, signal }: ChecksToRun,
): Promise<CheckOutcome | null> {
  const started = performance.now();
  const hasExact = restored.exactFingerprint !== undefined;
  const exact = hasExact ? metadata["exact_schema_hash"] : undefined;
  const expectedSha256 = exact ?? metadata["schema_hash"];
  if (typeof expectedSha256 !== "string") return null;
  const observedSha256 =
    exact === undefined
      ? await restored.fingerprint(metadata, signal)
      : ((await restored.exactFingerprint?.(metadata, signal)) ?? null);
  if (observedSha256 === null) return null;
  return digestCheck({
    name: "schema",
    expectedSha256,
    observedSha256,
    isExact: !hasExact || exact !== undefined,
    otherwise: OTHER_SCHEMA,
    duration_ms: performance.now() - started,
  });
}
