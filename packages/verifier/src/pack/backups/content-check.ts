import { plural } from "@attestore/proof";
import { GrowingNumbers } from "../../compact/growing-numbers.ts";
import { TextIndex } from "../../compact/text-index.ts";
import type { CheckedReceipt } from "../entries/check-receipt.ts";
import { comparedWithOther, type SignedDigests } from "../entries/content-digests.ts";
import { Findings } from "../findings.ts";
import { isKeptTest, type KeptStatement } from "../entries/kept-statement.ts";

/** So many backups' digests are in memory: restore tests are mostly of the newest backups. */
const RECENT = 16;

type Read = (file: number) => Promise<KeptStatement>;
type Test = Pick<CheckedReceipt, "file" | "id" | "statement">;

/**
 * Checks that restore tests compared tables and objects with the digests in the backup's own
 * receipt, and not with others. Tests by earlier agents, and tests of backups without such digests,
 * compared nothing. They are only counted.
 */
export class ContentCheck {
  readonly #read: Read;
  /** The file of each backup's last receipt. */
  readonly #backups = new TextIndex();
  /** By the files of their receipts, the one used last at the end. */
  readonly #recent = new Map<number, SignedDigests[]>();
  readonly #tests = GrowingNumbers.uint32();
  /** Tests that came before their backup's receipt, or have none. */
  readonly #waiting = GrowingNumbers.uint32();
  #counts = noCounts();
  #hasOtherReceipt = false;

  /** `read` reads the statement of a receipt again. */
  constructor(read: Read) {
    this.#read = read;
  }

  /** In log order. */
  async add({ file, id, statement }: CheckedReceipt): Promise<void> {
    if (!isKeptTest(statement)) {
      await this.#addBackup(statement.predicate.backup_id, file, statement.digests);
      return;
    }
    if (statement.predicate.result !== "passed") return;
    this.#tests.push(file);
    if (!(await this.#compare({ file, id, statement }))) this.#waiting.push(file);
  }

  /** `idOf` gives the id of the receipt in a file. */
  async finish(findings: Findings, idOf: (file: number) => string): Promise<void> {
    let again = this.#waiting;
    if (this.#hasOtherReceipt) {
      // A backup's last receipt counts, also for the tests that came before it.
      again = this.#tests;
      this.#counts = noCounts();
    }
    for (const file of again)
      await this.#compare({ file, id: idOf(file), statement: await this.#read(file) });
    const { compared, without, tables, findings: found } = this.#counts;
    findings.takeOver(found);
    if (compared > 0)
      findings.hold(
        "content",
        `${plural(compared, "passed restore test")} compared the content of ${plural(tables, "table")}; ${without} compared none`,
      );
  }

  async #addBackup(id: string, file: number, digests: SignedDigests[]): Promise<void> {
    const before = this.#backups.get(id);
    if (before !== undefined && JSON.stringify(await this.#digestsIn(before)) !== JSON.stringify(digests))
      this.#hasOtherReceipt = true;
    this.#backups.set(id, file);
    this.#keep(file, digests);
  }

  /** False if the backup's receipt is not there yet. */
  async #compare({ id, statement }: Test): Promise<boolean> {
    if (!isKeptTest(statement)) return true;
    if (statement.tables === null) {
      this.#counts.without += 1;
      return true;
    }
    const backup = this.#backups.get(statement.predicate.backup_id);
    if (backup === undefined) return false;
    this.#counts.compared += 1;
    this.#counts.tables += statement.tables;
    const other = comparedWithOther(statement.compared, await this.#digestsIn(backup));
    if (other !== null)
      this.#counts.findings.fail(
        "content",
        `${id}: ${other} is held against other digests than those of its backup`,
      );
    return true;
  }

  async #digestsIn(file: number): Promise<SignedDigests[]> {
    const known = this.#recent.get(file);
    if (known !== undefined) return this.#keep(file, known);
    const statement = await this.#read(file);
    return this.#keep(file, isKeptTest(statement) ? [] : statement.digests);
  }

  #keep(file: number, digests: SignedDigests[]): SignedDigests[] {
    this.#recent.delete(file);
    this.#recent.set(file, digests);
    const [oldest] = this.#recent.keys();
    if (this.#recent.size > RECENT && oldest !== undefined) this.#recent.delete(oldest);
    return digests;
  }
}

function noCounts() {
  return { compared: 0, without: 0, tables: 0, findings: new Findings() };
}
