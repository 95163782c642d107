import type { FilesProfile, Profile, Suspicion, TableProfile } from "@attestore/proof";
import { nameInId } from "../inferred-id.ts";
import type { PassedTest } from "../passed-tests.ts";
import { findFileSuspicions, TREE } from "./find-file-suspicions.ts";
import { findSuspicions } from "./find-suspicions.ts";

/**
 * The profiles of passed restore tests of a source, and what stands out from them. Tests that found
 * something suspicious are no measure for later ones.
 */
export class EarlierProfiles {
  /** Newest backup first. */
  readonly #tests: readonly PassedTest[];
  readonly #isAccepted: (table: string, test: PassedTest) => boolean;

  /** `isAccepted` says whether somebody accepted what a test saw of a table. */
  constructor(tests: readonly PassedTest[], isAccepted: (table: string, test: PassedTest) => boolean) {
    this.#tests = tests;
    this.#isAccepted = isAccepted;
  }

  /** Suspicious changes in a table. */
  suspicions(table: TableProfile): Suspicion[] {
    const id = nameInId(table.name);
    return this.#standOut(
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
    return this.#standOut(
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

  /** If every test found something, their findings stand until somebody accepts them. */
  #standOut<Before>(
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
}
