import type { SecretReference } from "../../secrets/secret-reference.ts";

interface Identified {
  /** Lower-case letters, digits, `-` and `_`; unique within its source. */
  readonly id: string;
}

/** One row of a query, compared with an expression over its columns. */
export interface QueryCheckConfig extends Identified {
  /** SQL that returns one row. For `files`: a path inside the tree (`.` for all of it). */
  readonly query: string;
  /** Such as `n >= 1000 and newest is not null`. */
  readonly expect: string;
}

/**
 * The JSON object that the customer's own program prints, compared with an expression over its
 * members.
 */
export interface CommandCheckConfig extends Identified {
  /** The program, by path or name, and its arguments; no shell reads them. */
  readonly command: readonly string[];
  readonly expect: string;
}

/** A secret that must come back byte for byte, and that no receipt ever shows. */
export interface CanaryCheckConfig extends Identified {
  /** Returns one row with one column. */
  readonly query: string;
  readonly canary: SecretReference;
}

/** A question to the restored data. */
export type CheckConfig = QueryCheckConfig | CommandCheckConfig | CanaryCheckConfig;
