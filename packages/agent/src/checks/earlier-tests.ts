import type { FilesProfile, NegativeControl, Profile, Suspicion, TableProfile } from "@attestore/proof";
import { rowCheckId } from "./inferred-checks.ts";
import type { Floor, PassedBefore, PassedTest, SeenRows, SeenTable } from "./passed-tests.ts";
import { findFileSuspicions, TREE } from "./profile/find-file-suspicions.ts";
import { findSuspicions } from "./profile/find-suspicions.ts";
import { isPattern, meansTable } from "./table-pattern.ts";

const ROWS = rowCheckId("");
/** The check that counts a tree's files. */
const FILES = "inferred:files";
const DAY_MS = 24 * 3600 * 1000;
/** Counts are compared with the best of this many days, unless there is a reason for more. */
export const FLOOR_DAYS = 30;
/**
 * Whether a table ever shrinks is judged over these days, and one that does not is compared with
 * their best. If they were fewer, several small losses would add up to one that nobody notices, and
 * after that the table would not even count as steady.
 */
export const STEADY_DAYS = 90;
/** A table is steady if this many tests over this many days saw it lose nothing significant. */
const STEADY_TESTS = 4;
const STEADY_SPAN_DAYS = 7;
/**
 * If somebody accepted that a table lost rows, this rule does not ask again for this long:
 * otherwise a table that varies at random would alarm several times a year.
 */
const SHRINKS_DAYS = 365;
/** What a steady table may lose: this share of its rows, or this many if it is small. */
const SLACK_SHARE = 0.05;
const SLACK_ROWS = 5;
/** Somebody tidies up a tree, or deploys another version, more often than a table loses rows. */
const SLACK_SHARE_OF_FILES = 0.08;

/**
 * Counts that passed restore tests of a source saw, and so a backup must still contain. Counts are
 * compared with the best of 30 or 90 days, not only with the last test's: otherwise each pass would
 * lower the floor of the next.
 */
export class EarlierTests {
  readonly #before: PassedBefore;
  readonly #now: number;
  /** Newest backup first, without those that somebody's `accept *` covers. */
  readonly #tests: readonly PassedTest[];
  /** Oldest first. */
  readonly #rows = new Map<string, SeenRows[]>();
  /** The number of a tree's files, oldest first. */
  readonly #files: SeenRows[] = [];

  constructor(before: PassedBefore) {
    this.#before = before;
    this.#now = before.now ?? Date.now();
    this.#tests = before.tests.filter((test) => !this.#isAccepted("*", test));
    for (const test of this.#tests.toReversed())
      for (const { id, observed } of test.checks) {
        const rows = observed["rows"];
        const files = observed["files"];
        if (id === FILES && isCount(files)) this.#files.push({ rows: files, test });
        if (!id.startsWith(ROWS) || !isCount(rows)) continue;
        this.#add(id.slice(ROWS.length), { rows, test });
      }
    for (const { name, seen } of before.unnamed ?? [])
      for (const each of seen) this.#add(nameInId(name), each);
    for (const seen of this.#rows.values())
      seen.sort((a, b) => Date.parse(a.test.madeAt) - Date.parse(b.test.madeAt));
  }

  #add(name: string, seen: SeenRows): void {
    if (this.#isAccepted(name, seen.test) || this.#isAccepted("*", seen.test)) return;
    const known = this.#rows.get(name);
    if (known === undefined) this.#rows.set(name, [seen]);
    else known.push(seen);
  }

  get source(): string {
    return this.#before.source;
  }

  /** False if the source's `row_floors` says so: then only missing tables are noticed. */
  get hasFloors(): boolean {
    return this.#before.rowFloors !== false;
  }

  /** The newest; null if every test was accepted away. */
  get newest(): PassedTest | null {
    return this.#tests[0] ?? null;
  }

  /** When a check with this definition was last tried on ruined data; null if it never was. */
  negativeControl(definitionSha256: string): NegativeControl | null {
    const controls = this.#before.tests.flatMap(({ checks }) =>
      checks.flatMap(({ definition_sha256, negative_control: control }) =>
        definition_sha256 === definitionSha256 && control !== undefined ? [control] : [],
      ),
    );
    return controls.toSorted((a, b) => (a.at < b.at ? 1 : -1))[0] ?? null;
  }

  /** Tests whose backups are at most 30 days old, and the newest. */
  get recent(): readonly PassedTest[] {
    const from = this.#daysAgo(FLOOR_DAYS);
    return this.#tests.filter(({ madeAt }, index) => index === 0 || madeAt >= from);
  }

  mayShrink(table: string): boolean {
    return !this.hasFloors || (this.#before.mayShrink ?? []).some((each) => meansTable(each, table));
  }

  /** Whether a person accepted, within the time considered, that it lost rows or is gone. */
  wasAccepted(table: string, days = STEADY_DAYS): boolean {
    const from = this.#daysAgo(days);
    return (this.#before.accepted ?? []).some(
      (each) => each.at >= from && meansTable(each.table, nameInId(table)),
    );
  }

  /**
   * Tables with rows that receipts do not name and whose loss somebody accepted: earlier totals
   * include them.
   */
  get acceptedUnnamed(): { readonly tables: number; readonly rows: number } {
    const accepted = (this.#before.unnamed ?? []).filter(({ name }) => this.wasAccepted(name));
    const most = accepted.map(({ seen }) => Math.max(0, ...seen.map(({ rows }) => rows)));
    return {
      tables: most.filter((rows) => rows > 0).length,
      rows: most.reduce((sum, rows) => sum + rows, 0),
    };
  }

  /** Whether a test that counts saw any row in it. */
  hadRows(table: string): boolean {
    return this.#of(table).some(({ rows }) => rows > 0);
  }

  /** Null if nothing is known that it must have. */
  floorOf(table: string): Floor | null {
    if (this.mayShrink(table)) return null;
    const seen = this.#of(table);
    const isSteady = this.#isSteady(table, seen);
    const from = this.#daysAgo(isSteady ? STEADY_DAYS : FLOOR_DAYS);
    const recent = seen.filter(({ test }, index) => test.madeAt >= from || index === seen.length - 1);
    const best = recent.reduce<SeenRows | null>(
      (most, each) => (most === null || each.rows >= most.rows ? each : most),
      null,
    );
    if (best === null || best.rows === 0) return null;
    const half = moreThanHalf(best.rows);
    const rows = isSteady ? Math.max(half, withoutSlack(best.rows)) : half;
    return { rows: BigInt(rows), best };
  }

  /** Tables that the newest passed test saw, except those that may go. */
  expected(): readonly SeenTable[] {
    const { newest } = this;
    if (newest === null) return [];
    const names = new Set((newest.tables ?? []).map(nameInId));
    for (const [name, seen] of this.#rows)
      if (seen.some(({ test }) => test.backupId === newest.backupId)) names.add(name);
    const mayGo = (this.#before.mayShrink ?? []).filter(isPattern);
    return [...names]
      .filter((name) => !this.#isAccepted(name, newest) && !mayGo.some((each) => meansTable(each, name)))
      .toSorted()
      .map((name) => ({ name, rows: this.#of(name).at(-1)?.rows ?? null }));
  }

  /** Every table that a test that counts saw. */
  known(): readonly string[] {
    return [...new Set([...this.#rows.keys(), ...this.expected().map(({ name }) => name)])].toSorted();
  }

  /** Suspicious changes in a table. */
  suspicions(table: TableProfile): Suspicion[] {
    const id = nameInId(table.name);
    return this.#suspicions(
      id,
      ({ tables }) => tables.find(({ name }) => nameInId(name) === id),
      (past) =>
        findSuspicions(
          table,
          past.map(({ madeAt, before }) => ({ madeAt, table: before })),
        ),
    );
  }

  /** Suspicious changes in a tree of files. */
  fileSuspicions(files: FilesProfile): Suspicion[] {
    return this.#suspicions(
      TREE,
      (profile) => profile.files,
      (past) =>
        findFileSuspicions(
          files,
          past.map(({ madeAt, before }) => ({ madeAt, files: before })),
        ),
    );
  }

  /** For a copy without any profile of a table, if tests before had some. */
  noProfile(): Suspicion[] {
    const had = this.#tests.flatMap(({ profile }) => profile?.tables.length ?? []).filter((many) => many > 0);
    return had.length === 0
      ? []
      : [{ table: "*", column: "*", measure: "tables", now: 0, before: Math.min(...had) }];
  }

  /**
   * Findings of the newest test about tables that have no profile now: nobody can say that they are
   * over.
   */
  standing(profiled: ReadonlySet<string>): Suspicion[] {
    const newest = this.#tests.find(({ profile }) => profile !== undefined);
    if (newest === undefined) return [];
    return (newest.profile?.suspicious ?? []).filter(
      ({ table }) => table !== "*" && !profiled.has(table) && !this.#isAccepted(nameInId(table), newest),
    );
  }

  /**
   * Tests that found something suspicious are no measure for later ones. If there are no others
   * left, their findings stand until somebody accepts them.
   */
  #suspicions<Before>(
    id: string,
    beforeIn: (profile: Profile) => Before | undefined,
    find: (past: readonly { readonly madeAt: string; readonly before: Before }[]) => Suspicion[],
  ): Suspicion[] {
    const past = this.#tests.flatMap((test) => {
      const before = test.profile === undefined ? undefined : beforeIn(test.profile);
      if (before === undefined || this.#isAccepted(id, test)) return [];
      const told = test.profile?.suspicious.filter((each) => nameInId(each.table) === id) ?? [];
      return [{ madeAt: test.madeAt, before, told }];
    });
    const clean = past.filter(({ told }) => told.length === 0);
    return clean.length === 0 ? (past[0]?.told ?? []) : find(clean);
  }

  /**
   * The least number of files that a tree must have, at least one; 0 if nothing is known. A tree is
   * steady in the same way as a table.
   */
  filesFloor(): number {
    const half = Math.ceil((this.best(FILES, "files") ?? 0) / 2);
    if (this.mayShrink(".") || !this.#isSteady(".", this.#files, SLACK_SHARE_OF_FILES)) return half;
    return Math.max(half, withoutSlack(this.mostFiles(), SLACK_SHARE_OF_FILES));
  }

  /** Of the days in which a tree must be steady. */
  mostFiles(): number {
    const from = this.#daysAgo(STEADY_DAYS);
    const counts = this.#files.flatMap(({ rows, test }) => (test.madeAt >= from ? [rows] : []));
    return Math.max(0, ...counts);
  }

  /** The best value that a check observed outside of tables, such as the number of files. */
  best(checkId: string, column: string): number | null {
    if (this.mayShrink(".")) return null;
    const values = this.recent
      .filter((test) => !this.#isAccepted(".", test))
      .map(({ checks }) => checks.find(({ id }) => id === checkId)?.observed[column])
      .filter(isCount);
    return values.length === 0 ? null : Math.max(...values);
  }

  /** Whether `attestore accept` covers what this test saw of a table. */
  #isAccepted(table: string, { madeAt }: Pick<PassedTest, "madeAt">): boolean {
    return (this.#before.accepted ?? []).some((each) => each.upTo >= madeAt && meansTable(each.table, table));
  }

  #of(table: string): readonly SeenRows[] {
    return this.#rows.get(nameInId(table)) ?? [];
  }

  /** Whether, in the days considered, it never lost more than this share of the most it had. */
  #isSteady(table: string, seen: readonly SeenRows[], share = SLACK_SHARE): boolean {
    if (this.wasAccepted(table, SHRINKS_DAYS)) return false;
    const from = this.#daysAgo(STEADY_DAYS);
    const looked = seen.filter(({ test }) => test.madeAt >= from);
    const [first, last] = [looked[0], looked.at(-1)];
    if (first === undefined || last === undefined) return false;
    if (new Set(looked.map(({ test }) => test.backupId)).size < STEADY_TESTS) return false;
    if (Date.parse(last.test.madeAt) - Date.parse(first.test.madeAt) < STEADY_SPAN_DAYS * DAY_MS)
      return false;
    let most = 0;
    for (const { rows } of looked) {
      if (most > 0 && rows < withoutSlack(most, share)) return false;
      most = Math.max(most, rows);
    }
    return true;
  }

  #daysAgo(days: number): string {
    return new Date(this.#now - days * DAY_MS).toISOString();
  }
}

/** The smallest count for which less than half is gone. */
export function moreThanHalf(rows: number): number {
  return Math.floor(rows / 2) + 1;
}

function withoutSlack(rows: number, share = SLACK_SHARE): number {
  return rows - Math.max(SLACK_ROWS, Math.floor(rows * share));
}

/** A table's name in the form of check ids. */
function nameInId(table: string): string {
  return rowCheckId(table).slice(ROWS.length);
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
