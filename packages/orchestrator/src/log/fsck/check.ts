import type { Leaf } from "@attestore/proof";
import type { LogIdentity } from "../checkpoints/log-keys.ts";
import type { ServiceFiles } from "../../platform/objects/service-files.ts";
import type { SqlSession } from "../../platform/database/sql-session.ts";
import type { Counts, Report } from "./finding.ts";

/** Context of each part of the check of one log. */
export interface Check {
  /** A transaction with one snapshot. */
  session: SqlSession;
  /** Null if the archive is not read. */
  files: ServiceFiles | null;
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
