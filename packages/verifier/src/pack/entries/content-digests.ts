import type { BackupStatement, RestoreTestStatement } from "@attestore/proof";

/** Of what a restore test compares besides the rows, each has a digest of its own. */
type Part = "objects" | "privileges" | "unrestored" | "globals";

/** The digests that a backup signed of one database. */
export interface SignedDigests {
  /** Null for a backup of a single database. */
  database: string | null;
  content: Digest | null;
  parts: Partial<Record<Part, Digest>>;
}

/** A check that held a restored database against digests. */
export interface ComparedDigest {
  /** The check's id. */
  id: string;
  what: "content" | Part;
  database: string | null;
  /** The digest that it compared with. */
  signed: Digest;
  /** The digest of what it compared. */
  own: Digest;
}

interface Digest {
  /** Null if it is no text. */
  sha256: string | null;
  /** How many tables it covers; null where that is not said. */
  tables: number | null;
}

const PARTS: readonly Part[] = ["objects", "privileges", "unrestored", "globals"];
const COMPARED = /^inferred:(content|objects|privileges|unrestored|globals)(?::([^]*))?$/;

/** What a backup says that its content is: one for each of its databases, or one for all of it. */
export function signedDigests({
  content,
  databases,
}: BackupStatement["predicate"]["source_metadata"]): SignedDigests[] {
  const listed: unknown[] = Array.isArray(databases) ? databases : [];
  const own = listed.flatMap((each) => {
    const name = isObject(each) ? each["name"] : undefined;
    return isObject(each) && typeof name === "string" ? digestsOf(name, each["content"]) : [];
  });
  return [...digestsOf(null, content), ...own];
}

/** What the checks of a restore test compared with digests of the backup. */
export function comparedDigests(checks: RestoreTestStatement["predicate"]["checks"]): ComparedDigest[] {
  return checks.flatMap(({ id, observed }) => {
    const [, what, database = null] = COMPARED.exec(id) ?? [];
    if (what === undefined) return [];
    const { signed_sha256, sha256, tables } = observed;
    const signed = digest({ sha256: signed_sha256 });
    return [{ id, what: what as "content" | Part, database, signed, own: digest({ sha256, tables }) }];
  });
}

/** The id of a check that used other digests than the backup's; null if there is none. */
export function comparedWithOther(
  compared: readonly ComparedDigest[],
  signed: readonly SignedDigests[],
): string | null {
  for (const { id, what, database, signed: used, own } of compared) {
    const backup = signed.find((each) => each.database === database);
    const expected = what === "content" ? backup?.content : backup?.parts[what];
    if (expected === null || expected === undefined || expected.sha256 === null) return id;
    if (expected.sha256 !== used.sha256) return id;
    // If everything was compared, the digest over it is the signed one.
    const isAll = what !== "content" || own.tables === expected.tables;
    if (isAll && own.sha256 !== used.sha256) return id;
  }
  return null;
}

function digestsOf(database: string | null, content: unknown): SignedDigests[] {
  if (!isObject(content)) return [];
  const parts = PARTS.flatMap((name) => {
    const part = content[name];
    return isObject(part) ? [[name, digest(part)] as const] : [];
  });
  return [{ database, content: digest(content), parts: Object.fromEntries(parts) }];
}

function digest({ sha256, tables }: Readonly<Record<string, unknown>>): Digest {
  return {
    sha256: typeof sha256 === "string" ? sha256 : null,
    tables: typeof tables === "number" ? tables : null,
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
