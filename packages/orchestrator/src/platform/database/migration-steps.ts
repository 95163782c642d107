import type pg from "pg";
import { setTimeout as delay } from "node:timers/promises";
import { errorCode, errorMessage } from "@attestore/host/errno";
import type { Logger } from "../logging/logger.ts";
import { splitStatements } from "./split-statements.ts";

/**
 * Part of a migration of large tables. None of them holds a lock for long, and each may run again
 * after it was interrupted, because nothing records that a step is done before all of them are.
 *
 * - `transaction`: statements that are done or not begun, such as `add column if not exists`.
 * - `batched`: one statement on a range of keys. `$1` is the last key that was done, at first `''`.
 *   It returns a row with `last`, the last key of its range, or null when no rows are left.
 * - `concurrent`: one `create index concurrently` or `drop index concurrently`, without a schema.
 */
export interface MigrationStep {
  kind: "transaction" | "batched" | "concurrent";
  sql: string;
}

const STEP = /^-- step: (\w+)$/m;
const KINDS: readonly string[] = ["transaction", "batched", "concurrent"];
const CONCURRENT =
  /^\s*(?:create (?:unique )?index concurrently (?<made>[a-z0-9_]+) on [a-z0-9_]+\b[^;]*|drop index concurrently if exists [a-z0-9_]+);\s*$/i;
/** A session that waits for a lock on a table holds up everybody who comes later. */
const LOCK_TIMEOUT_MS = 800;
const RETRY_MS = 250;
const GIVE_UP_AFTER_MS = 120_000;
const LOCKED_OUT = new Set(["55P03", "40P01", "57014"]);

/**
 * The steps of a migration; null for one that is a single transaction, without a line `-- step:`.
 * @throws Error for one that is written wrongly
 */
export function stepsOf(name: string, sql: string): MigrationStep[] | null {
  const [comment = "", ...parts] = sql.split(STEP);
  if (parts.length === 0) return null;
  if (withoutComments(comment) !== "") throw new Error(`${name} has statements before its first step`);
  const steps: MigrationStep[] = [];
  for (let at = 0; at < parts.length; at += 2) {
    const [kind = "", text = ""] = [parts[at], parts[at + 1]];
    if (!KINDS.includes(kind)) throw new Error(`${name} has an unknown step ${kind}`);
    const step = { kind: kind as MigrationStep["kind"], sql: withoutComments(text) };
    if (step.kind === "concurrent" && !CONCURRENT.test(step.sql))
      throw new Error(`a concurrent step of ${name} is not one index`);
    if (step.kind === "batched" && !step.sql.includes("$1"))
      throw new Error(`a batched step of ${name} does not begin after $1`);
    steps.push(step);
  }
  return steps;
}

function withoutComments(sql: string): string {
  return sql.replaceAll(/^\s*--.*$/gm, "").trim();
}

/** Runs all of them, from the first, whatever an interrupted run has done already. */
export async function runSteps(
  client: pg.Client,
  steps: readonly MigrationStep[],
  log: Logger,
): Promise<void> {
  for (const [index, step] of steps.entries()) {
    log.info({ step: index + 1, of: steps.length, kind: step.kind }, "migrating the database step by step");
    if (step.kind === "batched") await runBatches(client, step.sql, log);
    else if (step.kind === "concurrent") await runConcurrently(client, step.sql, log);
    else await patiently(log, () => inTransaction(client, step.sql));
  }
}

async function inTransaction(client: pg.Client, sql: string): Promise<void> {
  await client.query("begin");
  try {
    await client.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
    for (const statement of splitStatements(sql)) await client.query(statement);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => undefined); // The first error counts.
    throw error;
  }
}

/** Each batch is followed by a rest as long as it took: half of the database is left to others. */
async function runBatches(client: pg.Client, sql: string, log: Logger): Promise<void> {
  await client.query(`set lock_timeout = ${LOCK_TIMEOUT_MS}`);
  try {
    for (let last: string | null = ""; last !== null;) {
      const began = performance.now();
      const after: string = last;
      const { rows } = await patiently(log, () => client.query<{ last: string | null }>(sql, [after]));
      last = rows[0]?.last ?? null;
      await delay(performance.now() - began);
    }
  } finally {
    await client.query("set lock_timeout = default").catch(() => undefined); // The first error counts.
  }
}

/** An interrupted one leaves an index that is kept up to date, but that no query uses. */
async function runConcurrently(client: pg.Client, sql: string, log: Logger): Promise<void> {
  const made = CONCURRENT.exec(sql)?.groups?.["made"];
  await patiently(log, async () => {
    if (made !== undefined) {
      const { rows } = await client.query<{ indisvalid: boolean }>(
        "select indisvalid from pg_index where indexrelid = to_regclass($1)",
        [made],
      );
      if (rows[0]?.indisvalid === true) return;
      if (rows[0]?.indisvalid === false) await client.query(`drop index concurrently ${made}`);
    }
    await client.query(sql);
  });
}

async function patiently<T>(log: Logger, work: () => Promise<T>): Promise<T> {
  for (const until = performance.now() + GIVE_UP_AFTER_MS; ; await delay(RETRY_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!LOCKED_OUT.has(errorCode(error) ?? "") || performance.now() > until) throw error;
      log.warn({ reason: errorMessage(error) }, "a migration is waiting for tables that are in use");
    }
  }
}
