import { endedWith, type Exit } from "../../../processes/child.ts";
import { RunError } from "../../../errors/run-error.ts";
import { diskFullDuringRestore, whyItDied } from "../../disk-full.ts";
import { RestoreRefused } from "../../engine.ts";
import type { ScratchServer } from "../../scratch-server.ts";
import { isFull, isOfThePlace } from "../connection/session-error.ts";

/**
 * Errors about something that the dump uses and the server here lacks: a character set, collation,
 * storage engine, plugin, time zone, or a feature of another version. They say nothing against the
 * dump.
 */
const LACKING: ReadonlySet<number> = new Set([
  1115, 1126, 1127, 1128, 1193, 1235, 1273, 1286, 1289, 1298, 1305, 1524, 1911, 3185, 3510, 3548, 4161,
]);
/** Of error 1005: a table's options need something that the server here lacks, such as keys. */
const WRONG_OPTIONS = /\(errno: 140 /;
/** What a server has beside its databases, and no dump of these has. */
const BESIDE: Readonly<Record<number, string>> = {
  3510: "it makes a table in a tablespace of the server (CREATE TABLESPACE), which the scratch server does not have. Such a table cannot be tested here, unless it lies in a file of its own (ALTER TABLE … TABLESPACE innodb_file_per_table)",
  3548: "it uses a spatial reference system of the server's own (CREATE SPATIAL REFERENCE SYSTEM), which the scratch server does not have. Such a table cannot be tested here",
};
/** MariaDB without the keys, MySQL without a keyring. */
const NO_KEYS: ReadonlySet<number> = new Set([1005, 3185]);

/**
 * Decides what is to blame if a dump cannot be loaded: the dump, or the scratch server, which says
 * nothing about the backup. The client's messages quote rows, so only the error's number and the
 * dump's line are passed on.
 */
export function refusalOf(
  exit: Exit,
  errors: string,
  server: Pick<ScratchServer, "runtime" | "hasRunFull" | "hasDied">,
  { functions, databases, ofBackup, used }: Known,
): RunError | RestoreRefused {
  // The client prints the failed statement first, and that may contain anything.
  const last = errors.slice(Math.max(0, errors.lastIndexOf("\nERROR ")));
  const [, digits, state, line] = /^ERROR ([0-9]+) \(([0-9A-Z]{5})\)(?: at line ([0-9]+))?/m.exec(last) ?? [];
  const code = Number(digits ?? 0);
  if (isFull(code) || server.hasRunFull() || /Errcode: 28|No space left on device/.test(last)) {
    return diskFullDuringRestore(server);
  }
  if (server.hasDied())
    return new RunError("sandbox_failed", `the scratch server died during the restore${whyItDied(server)}`);
  // A client that ends by itself prints why. If its message is lost, nothing is known.
  const isSilent = !/^ERROR/m.test(errors);
  if (exit.signal !== null || isOfThePlace(code) || isSilent)
    return new RunError("sandbox_failed", `the mariadb client ended with ${endedWith(exit)} (error ${code})`);
  if (digits === undefined) return new RestoreRefused(`the dump cannot be loaded (${endedWith(exit)})`);
  const where = `error ${digits}, SQLSTATE ${state ?? "?"}${line === undefined ? "" : `, at line ${line} of the dump`}`;
  if (code === 1100)
    return new RestoreRefused(
      `the dump cannot be loaded (${where}): it fills a table whose default takes a value of a sequence, and locks only the table. ` +
        "Let the application take the value, or use AUTO_INCREMENT, and back up again",
    );
  const elsewhere = databaseOfMissing(last);
  // A dump changes only to databases that it has made. Something else may read any other one.
  if (code === NO_DATABASE && elsewhere !== undefined && used.has(elsewhere))
    return new RestoreRefused(
      `the dump cannot be loaded (${where}): it changes to the database ${elsewhere.slice(0, 64)}, which it does not make`,
    );
  const others = code === NO_DATABASE ? ofBackup : databases;
  if (elsewhere !== undefined && others?.includes(elsewhere) === false)
    return new RunError(
      "sandbox_lacks",
      `the dump cannot be loaded (${where}): something in it, most likely a view, reads the database ${elsewhere.slice(0, 64)}, ` +
        "which is not in this backup: back up both together",
    );
  const lost = code === NO_ROUTINE ? functions.find((name) => saysMissing(last, name)) : undefined;
  if (lost !== undefined)
    return new RestoreRefused(
      `the dump cannot be loaded (${where}): it lacks the function ${lost}, or makes it only afterwards`,
    );
  const hasWrongOptions = code === NO_TABLE && WRONG_OPTIONS.test(last);
  if (LACKING.has(code) || hasWrongOptions) {
    if (NO_KEYS.has(code))
      return new RunError(
        "sandbox_lacks",
        `the dump cannot be loaded (${where}): it makes a table with options that the scratch server cannot meet, such as encryption, for which it has no keys. ` +
          "Such a table cannot be tested here",
      );
    const beside = BESIDE[code];
    if (beside !== undefined)
      return new RunError("sandbox_lacks", `the dump cannot be loaded (${where}): ${beside}`);
    return new RunError(
      "sandbox_lacks",
      `the scratch server lacks a feature that the dump needs (${where}): use the source's version, with its storage engines and plugins`,
    );
  }
  const why = `${DENIED.has(code) ? BEYOND : ""}${REASONS[code] ?? ""}${brokenConstraint(code, last)}`;
  const said = `the dump cannot be loaded (${where})${why}`;
  // Our own dumps never ask for more. Those of others may, and a server's administrator loads them.
  if (DENIED.has(code) && ofBackup === null) return new RunError("sandbox_lacks", said);
  return new RestoreRefused(said);
}

/** Access to a database, table or right denied, or something that the server's options forbid. */
const DENIED: ReadonlySet<number> = new Set([1044, 1142, 1227, 1290]);
const BEYOND =
  ": it asks for more than to fill its own databases, such as to make accounts or to set the server's variables, and the account that loads it may do nothing else. " +
  'Make the dump without that (docs/engines.md, "What a dump may do")';

export interface Known {
  /** The source's stored functions: a missing one is told from one that a library brings. */
  readonly functions: readonly string[];
  /** Those of the scratch server; null if they could not be asked for. */
  readonly databases: readonly string[] | null;
  /** Those that the backup's metadata name; null of another program's dump, which names none. */
  readonly ofBackup: readonly string[] | null;
  /** Those to which the dump changes. */
  readonly used: ReadonlySet<string>;
}

/** What a person has to know about a dump that no server loads. */
const REASONS: Readonly<Record<number, string>> = {
  1368:
    ": it makes a view WITH CHECK OPTION before the view that this one reads, because dump programs sort views by name. " +
    "Rename one of the two at the source, so that the view that is read comes first, and back up again",
};

/** A check constraint, of MariaDB and of MySQL, and a unique key. Their messages may quote rows. */
const CONSTRAINTS: Readonly<Record<number, RegExp>> = {
  4025: /: CONSTRAINT `([^`\n]{1,130})` failed/,
  3819: /: Check constraint '([^'\n]{1,64})' is violated/,
  1062: / for key '([^'\n]{1,130})'$/m,
};

/** Names what a row of the dump breaks. A dump cannot be loaded with it by anybody. */
function brokenConstraint(code: number, message: string): string {
  const pattern = CONSTRAINTS[code];
  if (pattern === undefined) return "";
  const name = pattern.exec(message)?.[1];
  const what = code === 1062 ? "unique key" : "check constraint";
  return (
    `: a row breaks the ${what}${name === undefined ? "" : ` ${name}`}. It may have come in while such checks were off, or hold only in another time zone or session. ` +
    `Correct the row at the source, or drop the ${what === "unique key" ? "key" : "constraint"}, and back up again`
  );
}

/** The table could not be made. */
const NO_TABLE = 1005;
/** Of MySQL, where MariaDB says that a table is missing. */
const NO_DATABASE = 1049;

/** The database of the table that the server misses, as it says. */
function databaseOfMissing(message: string): string | undefined {
  const [, ofTable, ofDatabase] =
    /^ERROR (?:1146 [^\n]*: Table '([^'.\n]+)\.[^'\n]+' doesn't exist|1049 [^\n]*: Unknown database '([^'\n]+)')/.exec(
      message.trimStart(),
    ) ?? [];
  return ofTable ?? ofDatabase;
}

const NO_ROUTINE = 1305;

/** Whether the server says that this function is missing, which the backup's metadata names. */
function saysMissing(message: string, name: string): boolean {
  return message.includes(` FUNCTION ${name.replaceAll("`", "")} does not exist`);
}
