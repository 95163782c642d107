/**
 * The rows of sqlite_schema that a `create` statement made: all but those that SQLite makes itself,
 * which come of the statements' text. Not all names that begin with `sqlite_`: nobody can create
 * such a name, but a file may have it, and SQLite runs its trigger.
 */
export const MADE = `select type, tbl_name, name, sql from sqlite_schema
  where not (type = 'index' and sql is null) and not (type = 'table' and lower(name) in ('sqlite_sequence', 'sqlite_stat1', 'sqlite_stat2', 'sqlite_stat3', 'sqlite_stat4'))`;
