/**
 * The agent without all that a restore test does beyond restoring and asking the checks: without
 * what without-round-trip.ts leaves out, without a profile of the copy, and without looking at its
 * constraints and indexes. Only database.ts builds this, to measure what all of that costs.
 */
import { RestoredPostgresql } from "../src/engines/postgresql/restored.ts";

for (const name of ["profile", "checkConstraints", "checkIndexes"])
  Reflect.deleteProperty(RestoredPostgresql.prototype, name);

void import("./without-round-trip.ts");
