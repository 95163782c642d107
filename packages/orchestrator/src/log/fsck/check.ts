import type { Leaf } from "@attestore/proof";
import type { LogIdentity } from "../log-keys.ts";
import type { SqlSession } from "../../platform/database/sql-session.ts";
import type { Counts, Report } from "./finding.ts";

/** What each part of the check of one log works with. */
export interface Check {
  /** In a transaction that sees one snapshot. */
  session: SqlSession;
  identity: LogIdentity;
  orgId: string;
  counts: Counts;
  report: Report;
}

export interface LeafRow {
  log_index: number;
  leaf_hash: Buffer;
  leaf: Buffer;
}

export interface ParsedLeaf {
  row: LeafRow;
  leaf: Leaf;
}
