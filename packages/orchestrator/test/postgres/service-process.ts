/**
 * For tests: a process of its own that opens the database in a directory, as a service or a command
 * does, and says so. Arguments: the role and the directory; further ones are statements that it
 * runs, whose rows it prints.
 */
import pg from "pg";
import type { LockRole } from "../../src/platform/files/directory-lock.ts";
import { openDatabase } from "../../src/platform/postgres/open-database.ts";

const [role, dataDirectory = "", ...statements] = process.argv.slice(2);
const say = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
const line =
  (level: string) =>
  (fields: object, message: string): void =>
    say({ level, message, ...fields });

try {
  const opened = await openDatabase({
    dataDirectory,
    role: role as LockRole,
    log: { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") },
    binaries: process.env["TEST_POSTGRES"],
    user: process.env["TEST_POSTGRES_USER"],
    onReadinessChange: (ready) => say({ ready }),
  });
  process.once("SIGTERM", () => {
    void opened.close().then(() => process.exit(0));
  });
  say({ opened: opened.connection });
  if (statements.length > 0) {
    const client = new pg.Client(opened.connection);
    client.on("error", () => undefined); // The query reports it.
    await client.connect();
    for (const statement of statements) say({ rows: (await client.query<object>(statement)).rows });
    await client.end();
    say({ done: true });
  }
  if (role === "command") await opened.close();
} catch (error) {
  say({ failed: error instanceof Error ? error.message : String(error) });
  process.exitCode = 1;
}
