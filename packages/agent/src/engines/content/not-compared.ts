/**
 * Why no digest covers a table, or something else that holds data. It is signed as `why` in
 * `not_compared`; docs/formats.md says the same for readers of receipts.
 */
export type WhyNotCompared =
  /** PostgreSQL: a table with columns of another table (INHERITS), in whatever order. */
  | "inherited_columns"
  /** PostgreSQL: a column of the type money, where `lc_monetary` is not `C`. */
  | "money"
  /** The dump has no rows of it, or not as many as its program says. */
  | "not_in_dump"
  /** The agent could not read the dump, or this table's rows in it. */
  | "dump_not_read"
  /** PostgreSQL: an extension's own settings, of which a dump has only a part. */
  | "extension_table"
  /** MariaDB, MySQL: no time to see whether the dump program changes the column's values. */
  | "float_not_examined"
  | "text_not_examined"
  | "enum_not_examined"
  /** MariaDB, MySQL: values of ENUM or SET that a dump can't tell from others. */
  | "enum_ambiguous"
  /** MySQL: a table with numbers in JSON that are others after a restore. */
  | "json_retyped"
  /** MySQL: a column of JSON with times or bytes, which are texts after a restore. */
  | "json_types"
  /** MySQL: no time to see whether the column has some. Its table is compared if it is equal. */
  | "json_not_examined"
  /** PostgreSQL computes it anew; MariaDB may compute it otherwise. */
  | "generated_column"
  | "materialized_view"
  /** PostgreSQL: its data are stored elsewhere. */
  | "foreign_table"
  /** SQLite: no time to read it at the source. */
  | "no_time"
  /** SQLite: somebody wrote while it was read. */
  | "source_changed"
  /** SQLite could not read it. */
  | "not_read"
  /** The metadata have no room to name it, and another such table could not be read. */
  | "unnamed"
  /** MongoDB: the server's own, which a restore test leaves out, or one named `system.…`. */
  | "system_collection"
  /** MongoDB: the dump has more documents than the capped collection takes. */
  | "capped_overflow"
  /**
   * It has a digest of its own beside those of tables, and is compared. Earlier agents, which do
   * not know that, name it as not compared.
   */
  | "apart";

/** Data of a source that no digest covers. */
export interface NotCompared {
  readonly name: string;
  readonly why: WhyNotCompared;
}
