/**
 * Small texts that the service keeps in the object store about the objects: the installation's
 * marker, and which objects are in quarantine. In no list of objects. They are beside the objects
 * and not in the database, because the database may be the wrong one.
 */
export interface ServiceNotes {
  /** Null where there is none. */
  read(name: string): Promise<string | null>;
  /** Replaces what was there. Durable when it resolves. */
  write(name: string, text: string): Promise<void>;
  /** Nothing happens where there is none. */
  remove(name: string): Promise<void>;
  /** The names that begin so, in no particular order. */
  list(prefix: string): AsyncIterable<string>;
}
