import { shellWord } from "@attestore/proof";

/** For each `dump_format` of ours. docs/recover.md has the same commands with their reasons. */
const NEXT: Readonly<Record<string, (file: string) => string>> = {
  "pg_dump-custom": (file) =>
    `pg_restore --create --exit-on-error --no-owner --no-privileges --dbname=postgres ${file}`,
  "pg_dump-set": (file) =>
    `mkdir set && tar --extract --file=${file} --directory=set, and then pg_restore for each database in it: docs/recover.md`,
  "mysqldump-sql": (file) =>
    `mariadb --binary-mode < ${file}, or mysql instead of mariadb. It replaces databases of the same name`,
  "mongodump-archive": (file) => `mongorestore --stopOnError --bypassDocumentValidation --archive=${file}`,
  "sqlite3-file": (file) =>
    `sqlite3 -readonly ${file} 'pragma integrity_check', and then put the file where it belongs`,
  tar: (file) =>
    `mkdir restored && tar --extract --file=${file} --directory=restored --preserve-permissions --numeric-owner --acls --xattrs --xattrs-include='*' --delay-directory-restore`,
};

/**
 * The next command for a dump that is now in a file. Null if its format is not known, which it is
 * not for a ciphertext without its receipt.
 */
export function useRestoredFile(dumpFormat: string | undefined, file: string): string | null {
  if (dumpFormat?.startsWith("reference:") === true)
    return `Next: cat ${shellWord(file)}. It has no data: it names the file or snapshot that was tested, which is where it was.`;
  const next = NEXT[dumpFormat ?? ""];
  return next === undefined ? null : `Next: ${next(shellWord(file))}`;
}
