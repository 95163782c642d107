import type { NegativeControl } from "@attestore/proof";
import { nameInId, tableOfRowCheck } from "../inferred-id.ts";
import type { Floor, PassedBefore, PassedTest, SeenRows, SeenTable } from "../passed-tests.ts";
import { EarlierProfiles } from "../profile/earlier-profiles.ts";
import { TREE } from "../profile/find-file-suspicions.ts";
import {
  daysAgo,
  FLOOR_DAYS,
  type FloorOptions,
  filesFloor,
  mostOf90Days,
  rowFloor,
  SHRINKS_DAYS,
  STEADY_DAYS,
} from "./row-floors.ts";
import { isPattern, meansTable } from "./table-pattern.ts";

/** The check that counts a tree's files. */
const FILES = "inferred:files";

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
  /** What stands out from the profiles of these tests. */
  readonly profiles: EarlierProfiles;

  constructor(before: PassedBefore) {
    this.#before = before;
    this.#now = before.now ?? Date.now();
    this.#tests = before.tests.filter((test) => !this.#isAccepted("*", test));
    this.profiles = new EarlierProfiles(this.#tests, (table, test) => this.#isAccepted(table, test));
    for (const test of this.#tests.toReversed())
      for (const { id, observed } of test.checks) {
        const rows = observed["rows"];
        const files = observed["files"];
        if (id === FILES && isCount(files)) this.#files.push({ rows: files, test });
        const table = tableOfRowCheck(id);
        if (table !== null && isCount(rows)) this.#add(table, { rows, test });
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
    const from = daysAgo(FLOOR_DAYS, this.#now);
    return this.#tests.filter(({ madeAt }, index) => index === 0 || madeAt >= from);
  }

  mayShrink(table: string): boolean {
    return !this.hasFloors || (this.#before.mayShrink ?? []).some((each) => meansTable(each, table));
  }

  /** Whether a person accepted, within the time considered, that it lost rows or is gone. */
  wasAccepted(table: string, days = STEADY_DAYS): boolean {
    const from = daysAgo(days, this.#now);
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
    return this.mayShrink(table) ? null : rowFloor(this.#of(table), this.#floorOptions(table));
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

  /** The least number of files that a tree must have; 0 if nothing is known. */
  filesFloor(): number {
    if (this.mayShrink(TREE)) return 0;
    const bestOf30Days = this.best(FILES, "files") ?? 0;
    return filesFloor(this.#files, { ...this.#floorOptions(TREE), bestOf30Days });
  }

  /** The most files that it had in 90 days. */
  mostFiles(): number {
    return mostOf90Days(this.#files, this.#now);
  }

  /** The best value that a check observed outside of tables, such as the number of files. */
  best(checkId: string, column: string): number | null {
    if (this.mayShrink(TREE)) return null;
    const values = this.recent
      .filter((test) => !this.#isAccepted(TREE, test))
      .map(({ checks }) => checks.find(({ id }) => id === checkId)?.observed[column])
      .filter(isCount);
    return values.length === 0 ? null : Math.max(...values);
  }

  /**
   * What the newest earlier backup had of it, by the last test that saw any; null if none did. Not
   * of the backup that is tested: its tests say the same each time.
   */
  before(checkId: string, column: string): number | null {
    const counts = this.#tests
      .filter((test) => test.backupId !== this.#before.backupId && !this.#isAccepted(TREE, test))
      .map(({ checks }) => checks.find(({ id }) => id === checkId)?.observed[column]);
    return counts.find(isCount) ?? null;
  }

  /** Whether `attestore accept` covers what this test saw of a table. */
  #isAccepted(table: string, { madeAt }: Pick<PassedTest, "madeAt">): boolean {
    return (this.#before.accepted ?? []).some((each) => each.upTo >= madeAt && meansTable(each.table, table));
  }

  #of(table: string): readonly SeenRows[] {
    return this.#rows.get(nameInId(table)) ?? [];
  }

  #floorOptions(table: string): FloorOptions {
    return { now: this.#now, hasShrunk: this.wasAccepted(table, SHRINKS_DAYS) };
  }
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
