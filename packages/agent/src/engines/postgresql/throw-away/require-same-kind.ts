import { RunError } from "../../../errors/run-error.ts";
import type { ForeignMetadata, Runtime } from "../../engine.ts";
import { textsOf } from "../../foreign-texts.ts";
import {
  DATABASE_LOCALE,
  isSameLocale,
  localeName,
  localeOf,
  readLocale,
} from "../database/database-locale.ts";
import { requireExtensions } from "../database/prepare-database.ts";
import type { PsqlSession } from "../connection/psql-session.ts";
import { rowsOf } from "../schema.ts";
import { preparation } from "./preparation.ts";

/**
 * Requires that the database has what the backup needs and what we can't provide: extensions,
 * encoding, locale, and the roles that policies name.
 * @throws RunError `sandbox_lacks`
 */
export async function requireSameKind(
  session: PsqlSession,
  runtime: Runtime,
  metadata: ForeignMetadata,
): Promise<void> {
  await requireExtensions(session, { runtime }, metadata);
  const encoding = preparation(await session.run("show server_encoding")).trim();
  const { encoding: needed } = metadata;
  if (typeof needed === "string" && needed !== encoding)
    throw lacks(`its encoding is ${encoding}, but the backup's is ${needed.slice(0, 32)}`);
  const [locale, wanted] = [
    readLocale(preparation(await session.run(DATABASE_LOCALE))),
    localeOf(metadata["locale"]),
  ];
  if (wanted !== null && (locale === null || !isSameLocale(wanted, locale)))
    throw lacks(
      `its locale is ${locale === null ? "unknown" : localeName(locale)}, but the backup's is ${localeName(wanted)}`,
    );
  const roles = rowsOf(preparation(await session.run("select json_build_array(rolname) from pg_roles")));
  const there = new Set(roles.map(([name]) => name));
  const missing = textsOf(metadata["named_roles"], 63).filter((name) => !there.has(name));
  if (missing.length > 0) throw lacks(`it has no role ${missing.join(", ").slice(0, 200)}`);
}

function lacks(why: string): RunError {
  return new RunError("sandbox_lacks", `sandbox.database cannot take the backup: ${why}`);
}
