import type { Exit } from "../../../processes/child.ts";
import { feed } from "../../../processes/feed.ts";
import { programsIn, type RunProgram } from "../../../processes/run-program.ts";
import { RunError, stopIfAborted } from "../../../errors/run-error.ts";
import { UserError } from "../../../errors/user-error.ts";
import type { ForeignMetadata } from "../../engine.ts";
import { textsOf } from "../../foreign-texts.ts";
import type { Target, TargetRequest } from "../../target.ts";
import { resolveConnection } from "../connection/connection.ts";
import {
  DATABASE_LOCALE,
  type DatabaseLocale,
  isSameLocale,
  localeName,
  localeOf,
  localeOptions,
  readLocale,
} from "../database/database-locale.ts";
import { serverVersion } from "../dump/database-dump.ts";
import { discardDatabase, type MadeDatabase } from "./discard-database.ts";
import { findInstallations, missing } from "../connection/installations.ts";
import { connectionArguments, literal, PsqlSession, SessionEnded } from "../connection/psql-session.ts";
import { rowsOf } from "../schema.ts";
import { connectionFailed } from "../connection/session-error.ts";
import { contentsOf } from "../throw-away/contents.ts";
import { majorOf } from "../connection/version.ts";
import { toolsFor } from "../dump.ts";
import { quotedName } from "../../quoted-name.ts";

const FORMAT = "pg_dump-custom";
/** A new database is made from here. */
const MAINTENANCE = ["postgres", "template1"];
const IS_TEMPLATE = "select datistemplate from pg_database where datname = current_database()";

/**
 * Finds the database to restore into, on a server of the customer's, and that it is fit for this
 * backup. Only reads.
 * @throws UserError target_unusable; RunError
 */
export async function openPostgresqlTarget(
  { connection, database, mayHaveContent }: TargetRequest,
  metadata: ForeignMetadata,
  signal: AbortSignal,
): Promise<Target> {
  const format = metadata["dump_format"] ?? FORMAT;
  if (format !== FORMAT)
    throw new UserError(
      "target_unusable",
      `this backup holds several databases, or one in several files (${JSON.stringify(format).slice(0, 40)}): restore it with --output, and then as docs/recover.md says`,
    );
  const environment = await resolveConnection(connection);
  const installations = await findInstallations(["pg_restore"]);
  const newest = installations.at(-1);
  if (newest === undefined) throw missing("pg_restore", "postgresql-client");
  const found = await lookFor(programsIn(newest.bin), environment, database, signal);
  const { session } = found;
  try {
    const version = await serverVersion(session);
    const run = programsIn(toolsFor(version, installations, newest).bin);
    await requireWhatItNeeds(session, version, metadata);
    const wanted = localeOf(metadata["locale"]);
    const warnings: string[] = [];
    if (found.exists) {
      if ((await answer(session, IS_TEMPLATE)).trim() !== "f")
        throw new UserError(
          "target_unusable",
          `${database} is a template of new databases, so each of them would hold the backup. Nothing was changed. Choose another --into`,
        );
      const contents = await contentsOf(session);
      if (contents !== "" && !mayHaveContent)
        throw new UserError(
          "target_unusable",
          `the database ${database} is not empty: it has ${contents}. Nothing was changed. Choose another --into, which is made if it does not exist, or add --non-empty: what exists is never replaced, and an object that exists already stops the restore`,
        );
      const own = readLocale(await answer(session, DATABASE_LOCALE));
      if (wanted !== null && own !== null && !isSameLocale(wanted, own))
        warnings.push(
          `${database} has the locale ${localeName(own)} and the source had ${localeName(wanted)}: text sorts in another order, and constraints may refuse rows. A database that this makes itself has the right one`,
        );
    } else if (wanted === null)
      throw new UserError(
        "target_unusable",
        `there is no database ${database}, and a backup given with --file does not say which locale it needs: create the database first (createdb --template=template0 --encoding=UTF8 --locale=…), empty`,
      );
    let made: MadeDatabase | null = null;
    return {
      described: `the ${found.exists ? "" : "new "}database ${database} (PostgreSQL ${version})`,
      warnings,
      afterwards: [
        "Everything in it belongs to the role that restored, and nobody else has privileges yet: grant them.",
        "PostgreSQL has no statistics for it yet: run ANALYZE before it is used.",
      ],
      leavesPart: null,
      load: async (content) => {
        if (!found.exists && made === null && wanted !== null) {
          await create(session, database, metadata, wanted, version);
          made = { name: database, oid: await oidOf(session, database), beside: found.at };
        }
        await load({ run, environment, database, signal, isNew: !found.exists }, content);
        // What it has now is the backup, whatever fails after this.
        made = null;
      },
      discard: async () =>
        made === null || (await discardDatabase(run, environment, made)) ? null : leftEmpty(database),
      close: () => session.close(),
    };
  } catch (error) {
    await session.close();
    stopIfAborted(signal);
    throw error instanceof SessionEnded ? connectionFailed("the server cannot be reached", error) : error;
  }
}

interface Found {
  /** In the database itself if it exists, else where one can be made. */
  readonly session: PsqlSession;
  /** The name of that database. */
  readonly at: string;
  readonly exists: boolean;
}

/** Errors of a connection are in the server's language, so what exists is asked elsewhere first. */
async function lookFor(
  run: RunProgram,
  environment: Readonly<Record<string, string>>,
  database: string,
  signal: AbortSignal,
): Promise<Found> {
  const open = (at: string): Promise<PsqlSession> =>
    PsqlSession.open(run, environment, signal, { database: at });
  const isThere = `select count(*) from pg_database where datname = ${literal(database)}`;
  let failure: SessionEnded | null = null;
  for (const at of [...MAINTENANCE, database]) {
    const session = await open(at);
    try {
      const exists = (await answer(session, isThere)).trim() === "1";
      if (at === database || !exists) return { session, at, exists };
      await session.close();
      return { session: await open(database), at: database, exists };
    } catch (error) {
      await session.close();
      stopIfAborted(signal);
      if (!(error instanceof SessionEnded)) throw error;
      failure = error;
    }
  }
  throw failure === null
    ? new Error("no database was asked")
    : connectionFailed("the server cannot be reached", failure);
}

/** @throws UserError target_unusable for roles and extensions that the server lacks */
async function requireWhatItNeeds(
  session: PsqlSession,
  version: string,
  metadata: ForeignMetadata,
): Promise<void> {
  const listed = async (sql: string): Promise<Set<string>> =>
    new Set(rowsOf(await answer(session, sql)).map(([name = ""]) => name));
  const roles = textsOf(metadata["named_roles"], 63);
  const known =
    roles.length === 0 ? new Set<string>() : await listed("select json_build_array(rolname) from pg_roles");
  const noRole = roles.filter((role) => !known.has(role));
  if (noRole.length > 0)
    throw new UserError(
      "target_unusable",
      `rules of the backup name roles that the server lacks: create them first (createuser --no-login): ${noRole.join(", ").slice(0, 400)}`,
    );
  const { extensions } = metadata;
  const needed = (Array.isArray(extensions) ? extensions : []).flatMap((each: unknown) =>
    typeof each === "object" && each !== null && "name" in each ? textsOf([each.name], 63) : [],
  );
  const available = await listed("select json_build_array(name) from pg_available_extensions");
  const lacking = needed.filter((name) => !available.has(name));
  if (lacking.length > 0)
    throw new UserError(
      "target_unusable",
      `the backup needs ${lacking.join(", ").slice(0, 400)}, which PostgreSQL ${version} there does not have: install the extension`,
    );
}

async function create(
  session: PsqlSession,
  database: string,
  { encoding }: ForeignMetadata,
  locale: DatabaseLocale,
  version: string,
): Promise<void> {
  const charset = typeof encoding === "string" && /^[A-Z][A-Z0-9_]{1,31}$/.test(encoding) ? encoding : "UTF8";
  const as = `template template0 encoding '${charset}' ${localeOptions(locale, majorOf(version))}`;
  const created = await session.run(`create database ${quotedName(database)} ${as}`);
  if (created.ok) return;
  const { sqlstate } = created;
  // Somebody created it in the meantime, and nobody knows what is in it.
  if (sqlstate === "42P04")
    throw unusable(`the database ${database} was made by somebody else just now: try again`);
  if (sqlstate === "42501") {
    const [[role = ""] = []] = rowsOf(await answer(session, "select json_build_array(current_user)"));
    throw unusable(
      `the role ${role} may not create databases: as an administrator of the server, run this, then try again: ` +
        `create database ${quotedName(database)} owner ${quotedName(role)} ${as};`,
    );
  }
  throw unusable(
    `the database ${database} could not be made with the source's locale ${localeName(locale)} (SQLSTATE ${sqlstate}): install the locale on the server, or create an empty database in another one`,
  );
}

async function oidOf(session: PsqlSession, database: string): Promise<string> {
  return (await answer(session, `select oid from pg_database where datname = ${literal(database)}`)).trim();
}

function leftEmpty(database: string): string {
  return `the new database ${database} has nothing of the backup, and is still there, because somebody uses it or the server did not remove it. Give it as --into again, or remove it if nobody needs it: drop database ${quotedName(database)};`;
}

function unusable(message: string): UserError {
  return new UserError("target_unusable", message);
}

interface Loading {
  readonly run: RunProgram;
  readonly environment: Readonly<Record<string, string>>;
  readonly database: string;
  readonly signal: AbortSignal;
  readonly isNew: boolean;
}

/** In one transaction: all of it is there afterwards, or nothing. */
async function load(
  { run, environment, database, signal, isNew }: Loading,
  content: AsyncIterable<Buffer>,
): Promise<void> {
  const child = await run("pg_restore", {
    args: [
      ...connectionArguments(environment, database),
      "--no-password",
      "--no-owner",
      "--no-privileges",
      "--no-tablespaces",
      "--exit-on-error",
      "--single-transaction",
    ],
    env: environment,
    isFed: true,
    signal,
  });
  child.stdout.resume();
  try {
    await feed(child.stdin, content);
  } catch (error) {
    await child.stop();
    throw error;
  }
  const exit: Exit = await child.exited;
  stopIfAborted(signal);
  if (exit.code === 0) return;
  const left = isNew ? "nothing was restored" : `nothing in ${database} was changed`;
  if (exit.signal !== null) throw new RunError("connection_failed", `pg_restore was killed; ${left}`);
  throw unusable(`pg_restore stopped, and ${left}:\n${exit.stderr.trim().slice(-2000)}`);
}

/** @throws SessionEnded, UserError target_unusable */
async function answer(session: PsqlSession, sql: string): Promise<string> {
  const statement = await session.run(sql);
  if (statement.ok) return statement.output;
  throw unusable(`the server refused a query about itself (SQLSTATE ${statement.sqlstate})`);
}
