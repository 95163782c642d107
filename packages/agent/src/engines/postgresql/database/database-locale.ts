import { RunError } from "../../../errors/run-error.ts";
import { rowsOf } from "../schema.ts";

/** Decides how a database sorts text, and which characters are letters. */
export interface DatabaseLocale {
  readonly provider: "libc" | "icu" | "builtin";
  /** LC_COLLATE and LC_CTYPE. Every database has them. */
  readonly collate: string;
  readonly ctype: string;
  /** The locale of ICU or of the built-in provider; null with libc. */
  readonly locale: string | null;
  /** Tailoring rules of ICU; null if there are none. */
  readonly icu_rules: string | null;
}

const PROVIDERS: ReadonlyMap<string, DatabaseLocale["provider"]> = new Map([
  ["c", "libc"],
  ["i", "icu"],
  ["b", "builtin"],
]);
const MAX_NAME = 200;
const MAX_RULES = 4_000;

/**
 * Asks for the connection's own database. The columns of pg_database differ between versions; a
 * column that a server lacks is empty here.
 */
export const DATABASE_LOCALE = `
  select json_build_array(coalesce(d->>'datlocprovider', 'c'), d->>'datcollate', d->>'datctype',
    coalesce(d->>'datlocale', d->>'daticulocale', ''), coalesce(d->>'daticurules', ''))
  from (select to_jsonb(pg_database) from pg_database where datname = current_database()) own(d)`;

/** Parses the answer to that query; null if it contains no locale that we could make again. */
export function readLocale(output: string): DatabaseLocale | null {
  const [[provider = "", collate, ctype, locale, icu_rules] = []] = rowsOf(output);
  return localeOf({
    provider: PROVIDERS.get(provider),
    collate,
    ctype,
    locale,
    icu_rules: icu_rules === "" ? null : icu_rules,
  });
}

/** The locale in a backup's metadata, which we received; null if there is none. */
export function localeOf(value: unknown): DatabaseLocale | null {
  if (typeof value !== "object" || value === null) return null;
  const { provider, collate, ctype, locale, icu_rules } = value as Record<string, unknown>;
  if (!isText(collate, MAX_NAME) || !isText(ctype, MAX_NAME)) return null;
  if (provider === "libc") return { provider, collate, ctype, locale: null, icu_rules: null };
  if (provider !== "icu" && provider !== "builtin") return null;
  if (!isText(locale, MAX_NAME) || !(icu_rules === null || isText(icu_rules, MAX_RULES))) return null;
  return { provider, collate, ctype, locale, icu_rules };
}

function isText(value: unknown, most: number): value is string {
  return typeof value === "string" && value !== "" && value.length <= most && !value.includes("\0");
}

/** The options of CREATE DATABASE for this locale, in the SQL of that major version. */
export function localeOptions(
  { provider, collate, ctype, locale, icu_rules }: DatabaseLocale,
  major: number,
): string {
  const options = [`lc_collate ${literal(collate)}`, `lc_ctype ${literal(ctype)}`];
  if (major >= 15) options.push(`locale_provider ${provider}`);
  if (locale !== null) options.push(`${provider}_locale ${literal(locale)}`);
  if (icu_rules !== null) options.push(`icu_rules ${literal(icu_rules)}`);
  return options.join(" ");
}

/** Whether two databases sort alike. The C library treats `C.UTF-8` and `C.utf8` as one locale. */
export function isSameLocale(one: DatabaseLocale, other: DatabaseLocale): boolean {
  return JSON.stringify(comparable(one)) === JSON.stringify(comparable(other));
}

function comparable({ provider, collate, ctype, locale, icu_rules }: DatabaseLocale): unknown[] {
  return [provider, ...[collate, ctype].map(codesetFolded), locale, icu_rules];
}

function codesetFolded(name: string): string {
  return name.replace(/\.[A-Za-z0-9-]+/, (codeset) => codeset.toLowerCase().replaceAll("-", ""));
}

/** The name for people, such as `de_DE.UTF-8` or `de-DE of ICU`. */
export function localeName({ provider, collate, ctype, locale }: DatabaseLocale): string {
  if (provider !== "libc") return `${locale} of ${provider === "icu" ? "ICU" : "the built-in provider"}`;
  return collate === ctype ? collate : `${collate} with LC_CTYPE ${ctype}`;
}

/** The error if the server to restore into lacks the locale. */
export function lacksLocale(locale: DatabaseLocale, version: string): RunError {
  const install =
    locale.provider === "libc"
      ? "install it (Debian: enable it in /etc/locale.gen and run locale-gen)"
      : "install a PostgreSQL that is built with it";
  return new RunError(
    "sandbox_lacks",
    `the source's database has the locale ${localeName(locale).slice(0, 200)}, and the PostgreSQL ${version} of this host has not: ` +
      `${install}, or test in a container whose image has it (sandbox.image)`,
  );
}

/** Most locales' names are plain, and people read them: `restore --into` shows the statement. */
const PLAIN = /^[A-Za-z0-9_.@-]+$/;

/** Quotes any text as an SQL literal without a backslash, because psql would interpret one. */
function literal(text: string): string {
  if (PLAIN.test(text)) return `'${text}'`;
  const escaped = Array.from(text, (each) => `!+${(each.codePointAt(0) ?? 0).toString(16).padStart(6, "0")}`);
  return `U&'${escaped.join("")}' uescape '!'`;
}
