import {
  anyObject,
  type Issue,
  issuesOf,
  listOf,
  members,
  nonEmptyText,
  nullOr,
  oneOf,
  type Shape,
  wholeNumber,
} from "../json/shape.ts";
import { isObject } from "../json/strict-json.ts";
import { sha256Hex, timestamp, typeId } from "../shapes.ts";
import { PREDICATE_BACKUP, PREDICATE_RESTORE_TEST, type Statement, STATEMENT_TYPE } from "./statement.ts";

const run = {
  org_id: typeId("org"),
  agent_id: typeId("agent"),
  source_id: typeId("src"),
  backup_id: typeId("bkp"),
  started_at: timestamp,
  finished_at: timestamp,
  agent_version: nonEmptyText,
  previous_receipt_sha256: nullOr(sha256Hex),
};

const backup = members({
  ...run,
  size_bytes: wholeNumber,
  cipher: members({ name: oneOf("age-v1"), recipients: listOf(nonEmptyText, { min: 1 }) }),
  source_metadata: members(
    {
      engine: nonEmptyText,
      engine_version: nonEmptyText,
      dump_format: nonEmptyText,
      schema_hash: nonEmptyText,
    },
    {},
    true,
  ),
});

const restoreTest = members(
  {
    ...run,
    runtime: members(
      { kind: oneOf("container", "process", "uri"), engine: nonEmptyText, engine_version: nonEmptyText },
      { image_digest: nonEmptyText, isolation: oneOf("unit", "namespaces", "user", "none") },
    ),
    result: oneOf("passed", "failed"),
    checks: listOf(
      members({
        id: nonEmptyText,
        definition_sha256: sha256Hex,
        observed: anyObject,
        expectation: nonEmptyText,
        result: oneOf("passed", "failed"),
        duration_ms: wholeNumber,
      }),
    ),
  },
  {
    reason: nonEmptyText,
    phases: members({
      download_ms: wholeNumber,
      decrypt_ms: wholeNumber,
      restore_ms: wholeNumber,
      checks_ms: wholeNumber,
    }),
  },
);

const statement = (predicate: Shape): Shape =>
  members({
    _type: oneOf(STATEMENT_TYPE),
    subject: listOf(members({ name: typeId("bkp"), digest: members({ sha256: sha256Hex }) }), {
      min: 1,
      max: 1,
    }),
    predicateType: oneOf(PREDICATE_BACKUP, PREDICATE_RESTORE_TEST),
    predicate,
  });

const statements: ReadonlyMap<unknown, Shape> = new Map([
  [PREDICATE_BACKUP, statement(backup)],
  [PREDICATE_RESTORE_TEST, statement(restoreTest)],
]);
const anyStatement = statement(anyObject);

/** All that is wrong with a value as a statement; nothing when it is one. */
export function statementIssues(value: unknown): Issue[] {
  const type = isObject(value) ? value["predicateType"] : undefined;
  const issues = issuesOf(value, statements.get(type) ?? anyStatement);
  return issues.length > 0 ? issues : contradictions(value);
}

/** For a value that has the shape. */
function contradictions(value: unknown): Issue[] {
  const { subject, predicate } = value as Statement;
  const issues: Issue[] = [];
  if (subject[0].name !== predicate.backup_id)
    issues.push({ path: "/predicate/backup_id", message: "is not the backup that the subject names" });
  if (!("result" in predicate) || predicate.result !== "passed") return issues;
  // A pass that no check stands behind, or that one speaks against, is not a pass.
  if (predicate.checks.length === 0)
    issues.push({ path: "/predicate/result", message: 'is "passed" without any check' });
  if (predicate.checks.some(({ result }) => result !== "passed"))
    issues.push({ path: "/predicate/result", message: 'is "passed" although a check failed' });
  return issues;
}
