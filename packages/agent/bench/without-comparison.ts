/**
 * The agent without all that a backup and a restore test do to compare content, objects and
 * privileges, to profile the copy, and to look at its constraints and indexes. Only database.ts
 * builds this, to measure what all of that costs: no setting of the agent does it.
 */
import { DatabaseDump } from "../src/engines/postgresql/database-dump.ts";
import { RestoredPostgresql } from "../src/engines/postgresql/restored.ts";

// An optional method that is missing is a comparison that the engine does not have.
for (const name of ["compareContent", "profile", "checkConstraints", "checkIndexes"])
  Reflect.deleteProperty(RestoredPostgresql.prototype, name);

// Without a key, a backup signs nothing about content, as agents once made all of them.
const begin = DatabaseDump.begin.bind(DatabaseDump);
DatabaseDump.begin = (database, ...rest) => begin({ ...database, contentKey: undefined }, ...rest);

void import("../src/single-executable.ts");
