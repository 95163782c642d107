import type { SecretReference } from "../secrets/secret-reference.ts";

interface Identified {
  /** Lower-case letters, digits, `-` and `_`; unique within its source. */
  readonly id: string;
}

/** One row of a query, held against an expression over its columns. */
export interface QueryCheckConfig extends Identified {
  /** SQL that gives one row. For `files`: a path inside the tree (`.` for all of it). */
  readonly query: string;
  /** Such as `n >= 1000 and newest is not null`. */
  readonly expect: string;
}

/**
 * The JSON object that a program of the customer's prints, held against an expression over its
 * members.
 */
export interface CommandCheckConfig extends Identified {
  /** The program, by its path or name, and its arguments: no shell reads them. */
  readonly command: readonly string[];
  readonly expect: string;
}

/** A secret that has to come back byte for byte, and that no receipt ever shows. */
export interface CanaryCheckConfig extends Identified {
  /** Gives one row of one column. */
  readonly query: string;
  readonly canary: SecretReference;
}

/** What is asked of the restored data. */
export type CheckConfig = QueryCheckConfig | CommandCheckConfig | CanaryCheckConfig;
