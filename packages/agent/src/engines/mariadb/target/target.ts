import type { Child } from "../../../processes/child.ts";
import { startChild } from "../../../processes/child.ts";
import { feed } from "../../../processes/feed.ts";
import { RunError, stopIfAborted } from "../../../errors/run-error.ts";
import { UserError } from "../../../errors/user-error.ts";
import { captureTail } from "../../capture-tail.ts";
import type { ForeignMetadata } from "../../engine.ts";
import { textsOf } from "../../foreign-texts.ts";
import type { Target, TargetRequest } from "../../target.ts";
import { type ConnectionFile, writeConnectionFile } from "../connection/connection.ts";
import { underName } from "../restore/own-name.ts";
import { findClient, productOf } from "../connection/programs.ts";
import { refusedByServer } from "./refused-by-server.ts";
import { renamed } from "../restore/rename-database.ts";
import { OWN_DATABASES } from "../schema.ts";
import { settingsIn } from "../connection/server-settings.ts";
import { literal, MariadbSession, quoted, SessionEnded } from "../connection/session.ts";
import { connectionFailed } from "../connection/session-error.ts";

const FORMAT = "mysqldump-sql";

/**
 * Finds the database to restore into, on a server of the customer's, and that it is fit for this
 * backup. Only reads. A dump replaces tables of the same name, so the database has to be empty.
 * @throws UserError target_unusable; RunError
 */
export async function openMariadbTarget(
  { connection, database, mayHaveContent }: TargetRequest,
  metadata: ForeignMetadata,
  { scratchDir, signal }: { readonly scratchDir: string; readonly signal: AbortSignal },
): Promise<Target> {
  const format = metadata["dump_format"] ?? FORMAT;
  const databases = textsOf(metadata["databases"], 64);
  if (format !== FORMAT || databases.length > 1)
    throw unusable(
      `this backup holds ${databases.length > 1 ? `the databases ${databases.join(", ").slice(0, 200)}` : JSON.stringify(format).slice(0, 40)}: restore it with --output, and then as docs/recover.md says`,
    );
  if (mayHaveContent)
    throw unusable(
      "a dump of MariaDB or MySQL replaces tables of the same name, so its target has to be empty: leave out --non-empty",
    );
  if (OWN_DATABASES.includes(database.toLowerCase()))
    throw unusable(`${database} is the server's own database`);
  const client = await findClient();
  const file = await writeConnectionFile(connection, scratchDir);
  try {
    const open = (): Promise<MariadbSession> =>
      MariadbSession.open(
        ({ args }) =>
          startChild({
            command: client,
            args: [`--defaults-file=${file.path}`, ...args],
            env: file.env,
            signal,
          }),
        signal,
      );
    const session = await open();
    try {
      const [[version = "", account = ""] = []] = await answer(session, "select version(), current_user()");
      const product = productOf(version);
      const contents = await contentsOf(session, database);
      if (contents !== null && contents !== "")
        throw unusable(
          `the database ${database} is not empty: it has ${contents}. Nothing was changed. Choose another --into, which is made if it does not exist`,
        );
      return {
        described: `the ${contents === null ? "new " : ""}database ${database} (${product} ${version.slice(0, 40)})`,
        warnings: [
          ...(await otherSettings(session, metadata)),
          ...(await missingDefiners(session, metadata)),
        ],
        afterwards: ["Accounts and their rights are in no dump: grant them."],
        leavesPart: unfinished(database),
        load: async (content) => {
          // Hours may have passed, and the dump replaces tables.
          const again = await open();
          const found = await contentsOf(again, database);
          await again.close();
          if (found !== contents)
            throw unusable(
              `the database ${database} was made or filled by somebody else since it was looked at: nothing was changed. Try again, or choose another --into`,
            );
          await load(
            { client, file, signal, database, account },
            renamed(underName(content, database), databases[0] ?? null, database),
          );
        },
        discard: () => Promise.resolve(null),
        close: () => file.remove(),
      };
    } finally {
      await session.close();
    }
  } catch (error) {
    await file.remove();
    stopIfAborted(signal);
    throw error instanceof SessionEnded ? connectionFailed("the server cannot be reached", error) : error;
  }
}

/** Null if there is no such database; empty if there is nothing in it. */
async function contentsOf(session: MariadbSession, database: string): Promise<string | null> {
  const name = literal(database);
  const found = await answer(
    session,
    `select count(*) from information_schema.schemata where schema_name = ${name}`,
  );
  if (found[0]?.[0] === "0") return null;
  const counts = await answer(
    session,
    `select 'tables and views', count(*) from information_schema.tables where table_schema = ${name}
     union all select 'routines', count(*) from information_schema.routines where routine_schema = ${name}
     union all select 'events', count(*) from information_schema.events where event_schema = ${name}`,
  );
  return counts
    .filter(([, count]) => count !== "0")
    .map(([what, count]) => `${count} ${what}`)
    .join(", ");
}

/** Nobody can change these later: they are of a server's data directory. */
async function otherSettings(session: MariadbSession, metadata: ForeignMetadata): Promise<string[]> {
  const [[names, size] = []] = await answer(
    session,
    "select @@global.lower_case_table_names, @@global.innodb_page_size",
  );
  const { ignoresCase, pageSize } = settingsIn(metadata);
  return [
    ...(ignoresCase && names === "0"
      ? [
          "the source ignores the case of tables' names, and this server does not: views, routines and triggers may not find their tables. Make a server with lower_case_table_names=1",
        ]
      : []),
    ...(pageSize !== null && pageSize > Number(size)
      ? [
          `the source has pages of ${pageSize} bytes, and this server of ${size}: it may refuse tables with long rows. Make a server with innodb_page_size=${pageSize}`,
        ]
      : []),
  ];
}

async function missingDefiners(session: MariadbSession, metadata: ForeignMetadata): Promise<string[]> {
  const definers = textsOf(metadata["definers"], 400);
  if (definers.length === 0) return [];
  const known = await session.run("select concat(user, '@', host) from mysql.user");
  // A user who may not read the accounts cannot be told which are missing.
  if (!known.ok) return [];
  const there = new Set(known.rows.map(([account]) => account));
  const lacking = definers.filter((definer) => !there.has(definer.replaceAll("`", "")));
  return lacking.length === 0
    ? []
    : [
        `views, routines or triggers belong to accounts that the server lacks, and fail until they are made: ${lacking.join(", ").slice(0, 400)}`,
      ];
}

interface Loading {
  readonly client: string;
  readonly file: ConnectionFile;
  readonly signal: AbortSignal;
  readonly database: string;
  /** `user@host` */
  readonly account: string;
}

async function load(
  { client, file, signal, database, account }: Loading,
  content: AsyncIterable<Buffer>,
): Promise<void> {
  const child: Child = await startChild({
    command: client,
    args: [
      `--defaults-file=${file.path}`,
      // In binary mode, the client has no commands that a dump could hold.
      "--binary-mode",
      "--local-infile=0",
      "--loose-sandbox",
      "--default-character-set=utf8mb4",
      "--max-allowed-packet=1G",
    ],
    env: file.env,
    signal,
  });
  child.stdout.resume();
  // The client prints the whole statement before its error.
  let errors = "";
  child.stderr.on("data", (text: string) => {
    errors = (errors + text).slice(-1000);
  });
  const left = unfinished(database);
  const end = captureTail(content);
  try {
    await feed(child.stdin, end.content);
  } catch (error) {
    await child.stop();
    if (error instanceof UserError) throw unusable(`${error.message}; ${left}`);
    throw error;
  }
  const exit = await child.exited;
  stopIfAborted(signal);
  if (exit.signal !== null) throw new RunError("connection_failed", `the client was killed: ${left}`);
  // Of the database as a whole, so not even its first statement was carried out.
  if (exit.code !== 0 && /^ERROR 1044 /m.test(errors))
    throw unusable(
      `the account ${account} may not use the database ${database}: as an administrator of the server, run this, then try again: ` +
        `grant all on ${quotedDatabase(database)}.* to ${quotedAccount(account)};`,
    );
  if (exit.code !== 0)
    throw unusable(`the server refused the dump, and ${left}:\n${refusedByServer(errors)}`);
  if (!/^-- Dump completed/m.test(end.last()))
    throw unusable(`the dump's last line is missing: it was cut short, and ${left}`);
}

function unfinished(database: string): string {
  return `${database} has a part of the backup only: drop it before the next try`;
}

/** Of a grant, where `_` and `%` would stand for any characters. */
function quotedDatabase(database: string): string {
  return quoted(database.replaceAll(/[_%]/g, "\\$&"));
}

function quotedAccount(account: string): string {
  const at = account.lastIndexOf("@");
  return `${quoted(account.slice(0, at))}@${quoted(account.slice(at + 1))}`;
}

function unusable(message: string): UserError {
  return new UserError("target_unusable", message);
}

async function answer(session: MariadbSession, sql: string): Promise<readonly (readonly string[])[]> {
  const statement = await session.run(sql);
  if (statement.ok) return statement.rows;
  throw unusable(`the server refused a query about itself (error ${statement.code})`);
}
