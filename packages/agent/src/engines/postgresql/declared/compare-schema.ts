import type { CheckOutcome } from "@attestore/proof";
import { RunError, stopIfAborted } from "../../../errors/run-error.ts";
import type { RunProgram } from "../../../processes/run-program.ts";
import { compareDeclared } from "../../content/compare-declared.ts";
import type { DatabaseObject } from "../../content/tagged-objects.ts";
import { majorOf } from "../connection/version.ts";
import { type DeclaredSchema, DeclaredSql } from "./declared-sql.ts";
import { WITHOUT_OWNERS } from "./read-declared.ts";

/** A restore test leaves them out, or another database has them anyway. */
const NOT_RESTORED: ReadonlySet<string> = new Set(
  "acl default_acl database database_properties encoding stdstrings searchpath publication publication_table publication_tables_in_schema subscription security_label sequence_set blob blobs blob_comments materialized_view_data".split(
    " ",
  ),
);
/** Every copy by the same major version has these, if its dump makes them. */
const CERTAIN: ReadonlySet<string> = new Set(
  "aggregate check_constraint constraint default domain fk_constraint function index materialized_view policy procedure row_security rule sequence statistics table trigger type view".split(
    " ",
  ),
);
const WORDS = {
  query: "what pg_dump --schema-only prints of each object",
  hint: "restore it by hand and compare what pg_dump --schema-only prints of both",
};

export interface RestoredSchema {
  readonly run: RunProgram;
  readonly environment: Readonly<Record<string, string>>;
  /** Of its server. */
  readonly version: string;
}

/**
 * Dumps the definitions of a restored copy, and compares them with those in its dump. Null if
 * nothing could be compared, or not in time.
 * @throws RunError
 */
export async function compareSchema(
  { run, environment, version }: RestoredSchema,
  dump: DeclaredSchema,
  {
    key,
    budget_ms,
    signal,
  }: { readonly key: Buffer; readonly budget_ms: number; readonly signal: AbortSignal },
): Promise<CheckOutcome | null> {
  if (budget_ms < 1) return null;
  const started = performance.now();
  const time = AbortSignal.timeout(Math.ceil(budget_ms));
  const sql = new DeclaredSql();
  const args = [
    ...WITHOUT_OWNERS,
    "--no-publications",
    "--no-subscriptions",
    "--no-security-labels",
    "--no-password",
    ...(dump.quotesAll ? ["--quote-all-identifiers"] : []),
  ];
  try {
    const child = await run("pg_dump", {
      args,
      env: environment,
      signal: AbortSignal.any([signal, time]),
      isDump: true,
    });
    child.stdin.end();
    for await (const piece of child.stdout) sql.add(piece as Buffer);
    if ((await child.exited).code !== 0) return null;
  } catch (error) {
    stopIfAborted(signal);
    if (time.aborted || error instanceof RunError) return null;
    throw error;
  }
  const restored = sql.end();
  if (restored === null) return null;
  const isLike =
    majorOf(dump.server) === majorOf(version) && majorOf(dump.program) === majorOf(restored.program);
  return compareDeclared(
    {
      declared: dump.objects.filter(isRestored).map(withPlainTypes),
      restored: restored.objects.map(withPlainTypes),
      isCertain: ({ kind }) => isLike && CERTAIN.has(kind),
      isLookedFor: (object) => CERTAIN.has(object.kind) && isRestored(object),
    },
    key,
    { words: WORDS, duration_ms: performance.now() - started },
  );
}

/** The schema `public` and the comments on extensions are the server's own. */
function isRestored({ kind, name }: DatabaseObject): boolean {
  if (NOT_RESTORED.has(kind)) return false;
  if (kind === "schema" && name === "public") return false;
  return kind !== "comment" || !/^(?:EXTENSION |SCHEMA public$)/.test(name);
}

const WITH_TYPES: ReadonlySet<string> = new Set(["aggregate", "function", "procedure"]);

/**
 * The types in a function's name have quotes if the source sets `quote_all_identifiers`, or its
 * dump was made so. No two types differ in these alone.
 */
function withPlainTypes(object: DatabaseObject): DatabaseObject {
  if (!WITH_TYPES.has(object.kind)) return object;
  return { ...object, name: object.name.replaceAll(/"([a-z_][a-z0-9_]*)"(?=[,.)[\]]| )/g, "$1") };
}
