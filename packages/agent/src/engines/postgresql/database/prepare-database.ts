import { RunError } from "../../../errors/run-error.ts";
import type { ForeignMetadata } from "../../engine.ts";
import { textsOf } from "../../foreign-texts.ts";
import type { ScratchServer } from "../../scratch-server.ts";
import { lacksLocale, localeOf, localeOptions } from "./database-locale.ts";
import { literal, PsqlSession, SessionEnded, type Statement } from "../connection/psql-session.ts";
import { rowsOf } from "../schema.ts";
import { connectionFailed } from "../connection/session-error.ts";
import { majorOf } from "../connection/version.ts";
import { quotedName } from "../../quoted-name.ts";

/**
 * Creates an empty database in the scratch server with the source's encoding and locale and the
 * roles that its dump names.
 * @throws RunError `sandbox_lacks` before anything is restored, if this host lacks the source's
 * extensions or its locale.
 */
export async function prepareDatabase(
  server: ScratchServer,
  database: string,
  metadata: ForeignMetadata,
  signal: AbortSignal,
): Promise<void> {
  const session = await PsqlSession.open(server.run, {}, signal);
  try {
    await requireExtensions(session, server, metadata);
    const roles = `${literal(JSON.stringify(textsOf(metadata["named_roles"], 63)))}::json`;
    outputOf(
      await session.run(
        `do $$ begin execute (select coalesce(string_agg(format('create role %I;', name), ''), '') from json_array_elements_text(${roles}) name
           where name <> all (select rolname from pg_roles)); end $$`,
      ),
    );
    await createDatabase(session, server, database, metadata);
  } catch (error) {
    throw error instanceof SessionEnded ? connectionFailed("the scratch PostgreSQL broke", error) : error;
  } finally {
    await session.close();
  }
}

/**
 * The server does not know the locale, has it only for another encoding, was built without the
 * provider, or is older than the locale.
 */
const NO_SUCH_LOCALE: ReadonlySet<string> = new Set(["42809", "22023", "0A000", "42601"]);

async function createDatabase(
  session: PsqlSession,
  { runtime }: Pick<ScratchServer, "runtime">,
  database: string,
  metadata: ForeignMetadata,
): Promise<void> {
  const locale = localeOf(metadata["locale"]);
  const options = locale === null ? "" : localeOptions(locale, majorOf(runtime.engine_version));
  const created = await session.run(
    `create database ${quotedName(database)} template template0 encoding '${encodingOf(metadata["encoding"])}' ${options}`,
  );
  if (!created.ok && locale !== null && NO_SUCH_LOCALE.has(created.sqlstate))
    throw lacksLocale(locale, runtime.engine_version);
  outputOf(created);
}

/**
 * Every new database has the schema `public` and the extension `plpgsql`, and the dump of a source
 * without them does not remove them. So they are removed after loading, unless something in the
 * dump needs them. The language itself stays, because our own statements use it.
 */
export async function dropWhatSourceLacks(
  server: Pick<ScratchServer, "run">,
  database: string,
  metadata: ForeignMetadata,
  signal: AbortSignal,
): Promise<void> {
  const { extensions, lacks_public: lacksPublic } = metadata;
  const lacksPlpgsql =
    Array.isArray(extensions) &&
    !extensions.some(
      (each: unknown) =>
        typeof each === "object" && each !== null && "name" in each && each.name === "plpgsql",
    );
  const statements = [
    ...(lacksPublic === true ? ["drop schema if exists public restrict"] : []),
    ...(lacksPlpgsql ? ["delete from pg_extension where extname = 'plpgsql'"] : []),
  ];
  if (statements.length === 0) return;
  const session = await PsqlSession.open(server.run, { PGDATABASE: database }, signal);
  try {
    for (const statement of statements) await session.run(statement);
  } catch (error) {
    throw error instanceof SessionEnded ? connectionFailed("the scratch PostgreSQL broke", error) : error;
  } finally {
    await session.close();
  }
}

/** @throws RunError `sandbox_lacks` */
export async function requireExtensions(
  session: PsqlSession,
  { runtime }: Pick<ScratchServer, "runtime">,
  metadata: ForeignMetadata,
): Promise<void> {
  const extensions = metadata["extensions"];
  const needed = (Array.isArray(extensions) ? extensions : []).flatMap((extension: unknown) =>
    typeof extension === "object" && extension !== null && "name" in extension
      ? textsOf([extension.name], 63)
      : [],
  );
  const rows = rowsOf(
    outputOf(await session.run("select json_build_array(name) from pg_available_extensions")),
  );
  const available = new Set(rows.map(([name]) => name));
  const lacking = needed.filter((name) => !available.has(name));
  if (lacking.length === 0) return;
  throw new RunError(
    "sandbox_lacks",
    `the backup needs ${lacking.join(", ").slice(0, 200)}, which the PostgreSQL ${runtime.engine_version} here does not have: install the extension`,
  );
}

function encodingOf(value: unknown): string {
  return typeof value === "string" && /^[A-Z][A-Z0-9_]{1,31}$/.test(value) ? value : "UTF8";
}

export function outputOf(statement: Statement): string {
  if (statement.ok) return statement.output;
  const code = statement.sqlstate === "53100" ? "disk_full" : "sandbox_failed";
  throw new RunError(code, `the scratch PostgreSQL could not be prepared (SQLSTATE ${statement.sqlstate})`);
}
