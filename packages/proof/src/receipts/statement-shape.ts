import {
  anyObject,
  type Issue,
  listOf,
  matching,
  members,
  nonEmptyText,
  nullOr,
  oneOf,
  type Shape,
  sortedIssues,
  wholeNumber,
} from "../json/shape.ts";
import { isObject } from "../json/strict-json.ts";
import { LEAF_SHAPE } from "../log/leaf.ts";
import { base64Text, sha256Hex, timestamp, typeId } from "../shapes.ts";
import { contradictedContent } from "./content.ts";
import { PREDICATE_BACKUP, PREDICATE_RESTORE_TEST, type Statement, STATEMENT_TYPE } from "./statement.ts";

const numberOrText = matching(
  (value) =>
    typeof value === "string"
      ? value.length > 0
      : typeof value === "number" && Number.isSafeInteger(value) && value >= 0,
  "is neither a whole number nor a text",
);

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

const profile = members(
  {
    v: oneOf(1),
    tables: listOf(
      members({
        name: nonEmptyText,
        rows: wholeNumber,
        columns: listOf(
          members(
            { name: nonEmptyText, nulls: wholeNumber },
            {
              distinct: wholeNumber,
              length: wholeNumber,
              entropy: wholeNumber,
              random: wholeNumber,
              newest: nonEmptyText,
            },
          ),
        ),
      }),
    ),
    left_out: wholeNumber,
    suspicious: listOf(
      members({
        table: nonEmptyText,
        column: nonEmptyText,
        measure: oneOf(
          "nulls",
          "distinct",
          "length",
          "entropy",
          "random",
          "newest",
          "tables",
          "files",
          "mismatched",
          "renamed",
          "notes",
        ),
        now: numberOrText,
        before: numberOrText,
      }),
    ),
  },
  {
    files: members({
      files: wholeNumber,
      kinds: listOf(
        members(
          { name: nonEmptyText, files: wholeNumber },
          { mismatched: wholeNumber, entropy: wholeNumber, random: wholeNumber },
        ),
      ),
      renamed: wholeNumber,
      notes: wholeNumber,
    }),
  },
);

const restoreTest = members(
  {
    ...run,
    runtime: members(
      { kind: oneOf("container", "process", "uri"), engine: nonEmptyText, engine_version: nonEmptyText },
      { image_digest: nonEmptyText, isolation: oneOf("unit", "namespaces", "user", "none") },
    ),
    result: oneOf("passed", "failed"),
    checks: listOf(
      members(
        {
          id: nonEmptyText,
          definition_sha256: sha256Hex,
          observed: anyObject,
          expectation: nonEmptyText,
          result: oneOf("passed", "failed"),
          duration_ms: wholeNumber,
        },
        {
          negative_control: members({
            at: timestamp,
            noticed: listOf(nonEmptyText),
            not_noticed: listOf(nonEmptyText),
            not_tried: listOf(nonEmptyText),
          }),
        },
      ),
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
    draw: members({
      v: oneOf(1),
      statement: base64Text,
      leaf: LEAF_SHAPE,
      log_index: wholeNumber,
      hashes: listOf(sha256Hex, { max: 64 }),
      checkpoint: nonEmptyText,
      secret: sha256Hex,
    }),
    profile,
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

/** Returns all that is wrong with a value as a statement; empty if it is valid. */
export function statementIssues(value: unknown): Issue[] {
  const { all } = sortedIssues(value, shapeOf(value));
  return all.length > 0 ? all : [...contradictions(value), ...timeIssues(value)];
}

/** The same for a statement that was recorded before the order of its times was checked. */
export function recordedStatementIssues(value: unknown): Issue[] {
  const { all } = sortedIssues(value, shapeOf(value));
  return all.length > 0 ? all : contradictions(value);
}

/**
 * Returns what is wrong, the unknown names that a later version may define, and the unknown fields,
 * which are not checked.
 */
export function readingIssues(value: unknown): Record<"wrong" | "later" | "added", Issue[]> {
  const { wrong, unknownNames, unknownMembers } = sortedIssues(value, shapeOf(value));
  // The shape of a statement of another type is unknown.
  const ofOtherType = unknownNames.filter(({ path }) => path === "/_type" || path === "/predicateType");
  if (ofOtherType.length > 0) return { wrong: [], later: ofOtherType, added: [] };
  const later = [...unknownNames, ...otherDigests(value)];
  const isReadable = wrong.length === 0 && later.length === 0;
  const foreign = wrong.filter(({ path }) => !later.some((name) => name.path === path));
  return {
    wrong: isReadable ? [...contradictions(value), ...timeIssues(value)] : foreign,
    later,
    added: unknownMembers,
  };
}

/** Whether a subject has digests, all of unknown kinds. */
function otherDigests(value: unknown): Issue[] {
  const subjects = isObject(value) ? value["subject"] : undefined;
  const subject: unknown = Array.isArray(subjects) ? subjects[0] : undefined;
  const digest = isObject(subject) ? subject["digest"] : undefined;
  if (!isObject(digest) || "sha256" in digest || Object.keys(digest).length === 0) return [];
  return [{ path: "/subject/0/digest/sha256", message: "is missing, and no other digest is known here" }];
}

function shapeOf(value: unknown): Shape {
  const type = isObject(value) ? value["predicateType"] : undefined;
  return statements.get(type) ?? anyStatement;
}

/** Both times have the same width, so comparing their texts compares the times. */
function timeIssues(value: unknown): Issue[] {
  const { started_at, finished_at } = (value as Statement).predicate;
  return finished_at < started_at
    ? [{ path: "/predicate/finished_at", message: "is before started_at" }]
    : [];
}

/** The value must already have the shape. */
function contradictions(value: unknown): Issue[] {
  const { subject, predicate } = value as Statement;
  const issues: Issue[] = [];
  if (subject[0].name !== predicate.backup_id)
    issues.push({ path: "/predicate/backup_id", message: "is not the backup that the subject names" });
  if (!("result" in predicate) || predicate.result !== "passed") return issues;
  // A pass needs at least one check, and none that failed.
  if (predicate.checks.length === 0)
    issues.push({ path: "/predicate/result", message: 'is "passed" without any check' });
  if (predicate.checks.some(({ result }) => result !== "passed"))
    issues.push({ path: "/predicate/result", message: 'is "passed" although a check failed' });
  const content = contradictedContent(predicate.checks);
  if (content !== -1)
    issues.push({
      path: `/predicate/checks/${content}/observed`,
      message: "is not the content that the check says it held",
    });
  return issues;
}
