/** The definition of what a source has and no copy needs to have. It is named as not compared. */
export const NOT_COMPARED = "";
/** An event that a server removes when it ends. */
export const EVENT_THAT_ENDS = "event_that_ends";
/** The reference system of a column, which MariaDB's SHOW CREATE TABLE leaves out. */
export const REFERENCE_SYSTEM = "reference_system";
/** Whether an event is on that a server switches off when it ends. */
export const STATUS_OF_EVENT = "status_of_event";
/** MySQL's READ ONLY of a database. */
export const READ_ONLY = "read_only_of_database";
/** The server prints it with a question mark, so another character may be lost. */
export const DOUBTFUL_DEFAULT = "default_or_element_with_question_mark";
/** Where a table's files are, which depends on the host. */
export const DATA_DIRECTORY = "data_directory";
/** Partitions that the server adds as time goes by. */
export const PARTITIONS_BY_TIME = "partitions_by_time";
/** How often a sequence began anew. */
export const RESTARTS = "restarts_of_sequence";

/** Of these a backup only has names: time or the host changes them, or no dump has them. */
export const NOT_LOOKED_AT: readonly string[] = [
  DATA_DIRECTORY,
  DOUBTFUL_DEFAULT,
  EVENT_THAT_ENDS,
  PARTITIONS_BY_TIME,
  READ_ONLY,
  REFERENCE_SYSTEM,
  RESTARTS,
  STATUS_OF_EVENT,
];
