import { readFileSync } from "node:fs";
import { join } from "node:path";
import { newId } from "@attestore/contract";
import { expect } from "vitest";
import { EarlierTests } from "../../src/checks/earlier-tests/earlier-tests.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";

const DOC = join(import.meta.dirname, "../../../../docs/damage.md");
/** What a row of damage between the source and the copy ends with. */
export const ON_WAY = "on the way";
const DAY_MS = 24 * 3600 * 1000;
const DOES_NOT_APPLY = "–";

/** The column of one engine in the table of docs/damage.md that says what is noticed by what. */
export class DamageTable {
  readonly #cells: ReadonlyMap<string, string>;
  readonly #held = new Set<string>();

  /** `heading`: that of the table's section. `isHere`: whether this file has the row's case. */
  constructor(engine: string, heading = "PostgreSQL and SQLite", isHere = (_what: string) => true) {
    const [, section = ""] = readFileSync(DOC, "utf8").split(`\n## ${heading}\n`);
    const [head = [], , ...rows] = section
      .split(/\n## /)[0]!
      .split("\n")
      .filter((line) => line.startsWith("|"))
      .map((line) => line.split("|").map((cell) => cell.trim()));
    const at = head.indexOf(engine);
    expect(at, `${engine} in docs/damage.md`).toBeGreaterThan(1);
    this.#cells = new Map(
      rows.flatMap((row) =>
        row[at] === DOES_NOT_APPLY || !isHere(row[1] ?? "") ? [] : [[row[1] ?? "", row[at] ?? ""]],
      ),
    );
  }

  /** The checks that the table names fail, and each of them names what is damaged. */
  noticed(what: string, tested: RestoreTestResult, names: string): void {
    const checks = [...this.#cell(what).matchAll(/`([^`]+)`/g)].map(([, id = ""]) => id);
    const failed = tested.checks.filter(
      ({ id, result, observed }) =>
        result === "failed" && `${id} ${JSON.stringify(observed)}`.includes(names),
    );
    const ids = failed.map(({ id }) => (id.startsWith("inferred:rows:") ? "inferred:rows:…" : id));
    expect(checks, `docs/damage.md names a check for: ${what} (failed: ${ids.join(" ")})`).not.toEqual([]);
    expect(ids, `${what}: ${tested.reason}`).toEqual(expect.arrayContaining(checks));
    expect(tested.result).toBe("failed");
    this.#held.add(what);
  }

  /** The table says this in words. */
  says(what: string, word: string): void {
    expect(this.#cell(what), what).toBe(word);
    this.#held.add(what);
  }

  everyCaseIsHeld(): void {
    expect([...this.#held].toSorted()).toEqual([...this.#cells.keys()].toSorted());
  }

  #cell(what: string): string {
    const cell = this.#cells.get(what);
    expect(cell, `a row in docs/damage.md: ${what}`).toBeDefined();
    return cell ?? "";
  }
}

/** Nine days of tests that all saw the same. */
export function seenForDays({ checks, profile }: RestoreTestResult): EarlierTests {
  const tests = Array.from({ length: 9 }, (_, days) => {
    const at = new Date(Date.now() - (days + 0.5) * DAY_MS).toISOString();
    const backupId = newId("backup", Date.parse(at));
    return { at, madeAt: at, backupId, checks, ...(profile === undefined ? {} : { profile }) };
  });
  return new EarlierTests({ source: "shop", tests });
}
