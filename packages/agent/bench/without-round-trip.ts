/**
 * The agent without the comparison of what came back with what went in: nothing about content,
 * objects and privileges is signed with a backup, and nothing of them is read back in a restore
 * test. Profile, constraints and indexes stay. Only database.ts builds this, to measure what the
 * comparison alone costs: no setting of the agent does it.
 */
import { DatabaseDump } from "../src/engines/postgresql/dump/database-dump.ts";
import { RestoredPostgresql } from "../src/engines/postgresql/restored.ts";

// An optional method that is missing is a comparison that the engine does not have.
Reflect.deleteProperty(RestoredPostgresql.prototype, "compareContent");

// Without a key, a backup signs nothing about content, as agents once made all of them.
const begin = DatabaseDump.begin.bind(DatabaseDump);
DatabaseDump.begin = (database, ...rest) => begin({ ...database, contentKey: undefined }, ...rest);

void import("../src/single-executable.ts");
