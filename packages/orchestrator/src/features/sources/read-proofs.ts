import { type NotProvenBecause, notProvenBecause } from "@attestore/proof";
import { sql } from "kysely";
import type { Database } from "../../platform/database/schema.ts";
import {
  FIRST_ID,
  lastIdOf,
  ofSource,
  readStandingPasses,
  readTests,
  type SourcesOf,
  type Tests,
} from "./read-tests.ts";

export interface SourceProof {
  /** Null if the source is proven. */
  because: NotProvenBecause | null;
  /** When a restore test failed that nothing has cleared since; null if there is none. */
  failedAt: Date | null;
  /** When the restore test ran whose result came last, however late it came. */
  testedAt: Date | null;
}

/** What is known of a source beside its receipts. */
interface Facts {
  id: string;
  rpo_s: number | null;
  newest_id: string | null;
  passed_finished_at: Date | null;
  ever_passed: boolean;
}

/**
 * Whether each of these sources is proven at that moment, by the rule of packages/proof and by the
 * records. Ids of backups are in the order in which the service received them, so no host decides
 * which one is newest.
 */
export async function readProofs(
  db: Database,
  of: SourcesOf,
  at: Date,
  /**
   * Without it everything recorded counts: the database's clock may be a little ahead of this
   * process's.
   */
  until: Date | "infinity" = "infinity",
): Promise<Map<string, SourceProof>> {
  if (of.ids.length === 0) return new Map();
  const tests = await readTests(db, of, at, until);
  const passed = of.ids.map((id): [string, string | null] => [id, tests.get(id)?.passed_id ?? null]);
  const facts = await readFacts(db, passed, until);
  return new Map(
    facts.map((one) => {
      const said = tests.get(one.id) ?? NO_TESTS;
      return [
        one.id,
        { because: becauseOf(one, said, at), failedAt: said.failed_at, testedAt: said.tested_at },
      ];
    }),
  );
}

/**
 * Those of these sources that are proven at that moment, by the same rule. The sources may be of
 * many organisations. Why another is not proven is not looked up.
 */
export async function listProven(db: Database, ids: readonly string[], at: Date): Promise<Set<string>> {
  const passes = await readStandingPasses(db, ids, at);
  if (passes.size === 0) return new Set();
  const facts = await readFacts(db, [...passes], "infinity");
  return new Set(
    facts.flatMap((one) => {
      const tests = { passed_id: passes.get(one.id) ?? null, failed_at: null };
      return becauseOf(one, tests, at) === null ? [one.id] : [];
    }),
  );
}

/** @param passed sources, each with its newest backup that passed, if any */
async function readFacts(
  db: Database,
  passed: readonly (readonly [id: string, passedId: string | null])[],
  until: Date | "infinity",
): Promise<Facts[]> {
  const ids = passed.map(([id]) => id);
  const passedIds = passed.map(([, passedId]) => passedId);
  const { rows } = await sql<Facts>`
    select sources.id, (objectives ->> 'rpo_s')::int as rpo_s, newest.id as newest_id,
      passed.finished_at as passed_finished_at,
      coalesce(asked.passed_id is not null or last_proven_at <= ${until}, false) as ever_passed
    from sources join unnest(${ids}::text[], ${passedIds}::text[]) as asked (id, passed_id) on asked.id = sources.id
    left join lateral (select id from backups
      where ${ofSource("backups", "id", FIRST_ID, lastIdOf("backup", until))} and created_at <= ${until}
      order by source_id desc, id desc limit 1) as newest on true
    left join lateral (select least(made_at, created_at) as finished_at from backups
      where id = asked.passed_id limit 1) as passed on true
    where sources.id = any(${ids})`.execute(db);
  return rows;
}

function becauseOf(
  { newest_id, passed_finished_at, ever_passed, rpo_s }: Facts,
  { passed_id, failed_at }: Pick<Tests, "passed_id" | "failed_at">,
  at: Date,
): NotProvenBecause | null {
  const passed =
    passed_id === null || passed_finished_at === null
      ? null
      : { isNewest: passed_id === newest_id, finishedAt: passed_finished_at.getTime() };
  const facts = {
    hasBackup: newest_id !== null,
    everPassed: ever_passed,
    passed,
    failed: failed_at !== null,
    rpo_s: rpo_s ?? undefined,
  };
  return notProvenBecause(facts, at.getTime());
}

const NO_TESTS = { passed_id: null, failed_at: null, tested_at: null };
