import { open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { errorCode } from "@attestore/host/errno";
import { plainLine } from "@attestore/proof";
import { RunError } from "../../errors/run-error.ts";

/** The end of a journal that has one: the name, then its length, a sum over it, and this. */
const MAGIC = Buffer.from("d9d505f920a163d7", "hex");
const TRAILER_BYTES = 16;
/** SQLite takes no longer path. */
const LONGEST = 4096;

/**
 * The super-journal that a rollback journal names: a file that several databases share, because one
 * transaction wrote to all of them. It is removed when that transaction is committed, so while it
 * is there, each of the journals has to be undone. Null without one.
 */
export async function superJournalOf(journal: string): Promise<string | null> {
  const file = await open(journal);
  try {
    const { size } = await file.stat();
    const trailer = Buffer.alloc(TRAILER_BYTES);
    if (size < TRAILER_BYTES) return null;
    await file.read(trailer, 0, TRAILER_BYTES, size - TRAILER_BYTES);
    const [length, sum] = [trailer.readUInt32BE(0), trailer.readUInt32BE(4)];
    if (!trailer.subarray(8).equals(MAGIC)) return null;
    if (length === 0 || length > LONGEST || length > size - TRAILER_BYTES) return null;
    const name = Buffer.alloc(length);
    await file.read(name, 0, length, size - TRAILER_BYTES - length);
    return name.reduce((left, byte) => (left - ((byte << 24) >> 24)) >>> 0, sum) === 0
      ? name.toString("utf8")
      : null;
  } finally {
    await file.close();
  }
}

/**
 * SQLite takes a transaction for committed if it does not find the super-journal, for example
 * because an application in a container has other paths. Then half of the transaction would stay
 * in the database.
 * @throws RunError unless the super-journal is there, or would be seen if it were: where the
 * database itself is.
 */
export async function requireVisible(superJournal: string, database: string): Promise<void> {
  let why = "is not where the database is";
  try {
    await stat(superJournal);
    return;
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" && dirname(superJournal) === dirname(database)) return;
    if (code !== "ENOENT") why = `cannot be looked at (${code ?? "unknown error"})`;
  }
  throw new RunError(
    "dump_failed",
    `a killed application left a transaction that wrote to ${database} and to other databases, and whether it was committed depends on ${plainLine(superJournal.slice(0, 400))}, which ${why}: ` +
      "have the application open all of these databases once, and run the backup again",
  );
}
