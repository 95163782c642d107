/**
 * Small texts about the objects that the service stores beside them: the installation's marker, and
 * which objects are in quarantine. They are in no list of objects. They are not in the database,
 * because that may be the wrong one.
 */
export interface ServiceNotes {
  /** Null if there is none. */
  read(name: string): Promise<string | null>;
  /** Replaces an earlier text. Durable when it resolves. */
  write(name: string, text: string): Promise<void>;
  /** Does nothing if there is none. */
  remove(name: string): Promise<void>;
  /** The names that begin with this, in no particular order. */
  list(prefix: string): AsyncIterable<string>;
}
