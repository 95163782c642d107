import { equalBytes, type CompactRange, plural } from "@attestore/proof";
import type { PreparedQuery } from "../../platform/database/sql-session.ts";
import type { Check } from "./check.ts";

const PAGE = 1000;

interface HeadRow {
  tree_size: number;
  root_hash: Buffer;
}

const HEADS: PreparedQuery = {
  name: "fsck_heads",
  text: `select tree_size, root_hash from log_heads where org_id = $1 and tree_size > $2 order by tree_size limit $3`,
};

/** Compares the recorded heads with the roots of the rebuilt tree as it grows. */
export class HeadComparison {
  readonly #check: Check;
  #page: HeadRow[] = [];
  #next = 0;
  #after = -1;
  /** Size of the last head that agreed in size with the tree. */
  #last = -1;

  constructor(check: Check) {
    this.#check = check;
  }

  async compare(range: CompactRange): Promise<void> {
    const head = await this.#peek();
    if (head?.tree_size !== range.size) return;
    this.#next++;
    this.#last = range.size;
    this.#check.counts.heads++;
    if (!equalBytes(head.root_hash, range.root()))
      this.#check.report(
        "head",
        `the head of ${plural(head.tree_size, "leaf", "leaves")} has a different root than the leaves`,
      );
  }

  async finish(size: number): Promise<void> {
    const { report } = this.#check;
    if (this.#last !== size)
      report("head", `there is no head for the log's ${plural(size, "leaf", "leaves")}`);
    for (let head = await this.#peek(); head !== undefined; head = await this.#peek()) {
      this.#next++;
      report(
        "head",
        `there is a head of ${plural(head.tree_size, "leaf", "leaves")}, but the log has ${size}`,
      );
    }
  }

  async #peek(): Promise<HeadRow | undefined> {
    if (this.#next >= this.#page.length && this.#after !== Infinity) {
      const { session, orgId } = this.#check;
      this.#page = await session.run<HeadRow>(HEADS, [orgId, this.#after, PAGE]);
      this.#next = 0;
      this.#after = this.#page.at(-1)?.tree_size ?? Infinity;
    }
    return this.#page[this.#next];
  }
}
