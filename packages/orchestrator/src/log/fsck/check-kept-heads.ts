import { equalBytes, plural, type CompactRange } from "@attestore/proof";
import type { PreparedQuery } from "../../platform/database/sql-session.ts";
import type { Head } from "../checkpoints/checkpoint-signer.ts";
import type { Check } from "./check.ts";

/** A signed head that is kept outside the database. */
export interface KeptHead extends Head {
  /** Such as "signed-heads". */
  where: string;
}

const MISSING: PreparedQuery = {
  name: "fsck_missing_head",
  text: `select missing_head_size, missing_head_root, coalesce(missing_head_origin, origin) as origin
    from logs where org_id = $1 and missing_head_size is not null`,
};

/**
 * The heads of a log that the database may have forgotten: those kept outside it, and the one that
 * stopped the log, which an agent may have brought.
 */
export async function keptHeads(
  { session, orgId }: Check,
  kept: ReadonlyMap<string, readonly KeptHead[]>,
): Promise<KeptHead[]> {
  type Row = { missing_head_size: number; missing_head_root: Buffer; origin: string };
  const [row] = await session.run<Row>(MISSING, [orgId]);
  const heads = [...(kept.get(orgId) ?? [])];
  if (row !== undefined)
    heads.push({
      origin: row.origin,
      size: row.missing_head_size,
      rootHash: row.missing_head_root,
      where: "the mark that stopped this log",
    });
  return heads;
}

/** Compares heads that are kept elsewhere with the rebuilt tree as it grows. */
export class KeptHeadComparison {
  readonly #report: Check["report"];
  readonly #left: KeptHead[];

  constructor({ report }: Check, heads: readonly KeptHead[]) {
    this.#report = report;
    this.#left = heads.toSorted((a, b) => a.size - b.size);
  }

  compare(range: CompactRange): void {
    for (let [head] = this.#left; head?.size === range.size; [head] = this.#left) {
      this.#left.shift();
      if (!equalBytes(head.rootHash, range.root()))
        this.#report(
          "signed_head",
          `the log is another one than when its head of ${plural(head.size, "leaf", "leaves")} was signed, which ${head.where} has: it was set back and went on`,
        );
    }
  }

  finish(size: number): void {
    for (const head of this.#left)
      this.#report(
        "signed_head",
        `a head of ${plural(head.size, "leaf", "leaves")} was signed, which ${head.where} has, but the log has ${size}: it was set back`,
      );
  }
}
