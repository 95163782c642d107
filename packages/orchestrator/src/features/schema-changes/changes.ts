/** Names of the differences between two summaries of a schema. */
export interface SchemaChanges {
  added: string[];
  removed: string[];
  altered: string[];
}
