import { describe, expect, it } from "vitest";
import {
  everyMemberRemoved,
  everyObjectExtended,
  everyTypeChanged,
  type Change,
} from "../../test/changes.ts";
import { backupStatement, ids, restoreTestStatement } from "../../test/receipt-fixture.ts";
import { fromUtf8, utf8 } from "../bytes.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import { ProofError } from "../proof-error.ts";
import { formatStatement, parseStatement } from "./parse-statement.ts";
import type { Statement } from "./statement.ts";

const parse = (value: unknown): ReturnType<typeof parseStatement> =>
  parseStatement(utf8(JSON.stringify(value)));

function issuePaths(value: unknown): string[] {
  const parsed = parse(value);
  return parsed.ok ? [] : parsed.issues.map(({ path }) => path);
}

const statements: [string, () => Statement][] = [
  ["backup", backupStatement],
  ["restore test", restoreTestStatement],
];

describe.each(statements)("a %s statement", (_kind, make) => {
  it("is read from its canonical bytes", () => {
    const payload = formatStatement(make());
    expect(fromUtf8(payload)).toBe(canonicalJson(make()));
    expect(parseStatement(payload)).toEqual({ ok: true, statement: make() });
  });

  const optional = ["/predicate/reason", "/predicate/phases", "/predicate/runtime/image_digest"];
  const free = ["/predicate/source_metadata/database", "/predicate/checks/0/observed/"];
  const mayGo = (path: string): boolean =>
    optional.includes(path) ||
    free.some((open) => path.startsWith(open)) ||
    /^\/predicate\/cipher\/recipients\/\d$/.test(path);

  it("needs every field that is not optional", () => {
    for (const { path, value } of everyMemberRemoved(make())) {
      const paths = issuePaths(value);
      if (mayGo(path)) expect(paths, path).toEqual([]);
      // Taking away an item leaves a list too short, or a pass without a check.
      else if (/\/\d$/.test(path)) expect(paths.length, path).toBeGreaterThan(0);
      else expect(paths, path).toContain(path);
    }
  });

  it("has no field of another type", () => {
    const isOpen = ({ path, how }: Change): boolean =>
      free.some((open) => path.startsWith(open)) ||
      (path === "/predicate/previous_receipt_sha256" && how === "made null");
    for (const change of everyTypeChanged(make())) {
      const paths = issuePaths(change.value);
      if (isOpen(change)) expect(paths, change.path).toEqual([]);
      else expect(paths, `${change.path} ${change.how}`).toContain(change.path);
    }
  });

  it("has no unknown field, except where it is open", () => {
    const isOpen = (path: string): boolean =>
      path.startsWith("/predicate/source_metadata") || path === "/predicate/checks/0/observed";
    for (const { path, value } of everyObjectExtended(make()))
      expect(issuePaths(value), path).toEqual(isOpen(path) ? [] : [`${path}/extra`]);
  });

  it("is about the backup that its predicate names, and one only", () => {
    const other = make();
    other.subject[0].name = "bkp_01jd3gqp7yc03q0r9z4q1g9x7f";
    expect(issuePaths(other)).toEqual(["/predicate/backup_id"]);
    const [subject] = make().subject;
    expect(issuePaths({ ...make(), subject: [subject, subject] })).toEqual(["/subject"]);
    expect(issuePaths({ ...make(), subject: [] })).toEqual(["/subject"]);
  });

  it("is of a known type", () => {
    expect(issuePaths({ ...make(), predicateType: "https://attestore.dev/backup/v2" })).toEqual([
      "/predicateType",
    ]);
    expect(issuePaths({ ...make(), _type: "https://in-toto.io/Statement/v0.1" })).toEqual(["/_type"]);
  });

  it.each([
    ["org_id", ids.agent],
    ["agent_id", "agent_01JD3GQM3WEY1S8P6X2N9D7V4C"],
    ["source_id", "src_81jd3gqn5xdz2r9q8y3p0f8w6d"],
    ["source_id", "src_01jd3gqn5xdz2r9q8y3p0f8w6u"],
    ["source_id", "src_01jd3gqn5xdz2r9q8y3p0f8w6dd"],
    ["started_at", "2026-11-20T02:00:00Z"],
    ["started_at", "2026-11-20T02:00:00.000+00:00"],
    ["started_at", "2026-02-30T02:00:00.000Z"],
    ["finished_at", "2026-11-20 02:00:00.000Z"],
    ["finished_at", "2026-11-20T24:00:00.000Z"],
    ["previous_receipt_sha256", "AB".repeat(32)],
    ["previous_receipt_sha256", "ab".repeat(31)],
  ])("does not take %s %j", (field, value) => {
    const changed = { ...make(), predicate: { ...make().predicate, [field]: value } };
    expect(issuePaths(changed)).toEqual([`/predicate/${field}`]);
  });
});

describe("a passed restore test", () => {
  const failedCheck = { ...restoreTestStatement().predicate.checks[0], result: "failed" };
  const withPredicate = (more: object): unknown => {
    const statement = restoreTestStatement();
    return { ...statement, predicate: { ...statement.predicate, ...more } };
  };

  it("has at least one check, and none that failed", () => {
    const [check] = restoreTestStatement().predicate.checks;
    expect(issuePaths(withPredicate({ checks: [] }))).toEqual(["/predicate/result"]);
    expect(issuePaths(withPredicate({ checks: [failedCheck] }))).toEqual(["/predicate/result"]);
    expect(issuePaths(withPredicate({ checks: [check, failedCheck] }))).toEqual(["/predicate/result"]);
  });

  it("may have failed with any checks or none", () => {
    for (const checks of [[], [failedCheck], restoreTestStatement().predicate.checks])
      expect(issuePaths(withPredicate({ result: "failed", checks }))).toEqual([]);
  });

  it("cannot be said twice in one payload", () => {
    const text = canonicalJson(withPredicate({ result: "failed" }));
    const twice = text.replace(`"result":"failed"`, `"result":"failed","result":"passed"`);
    expect(parseStatement(utf8(twice)).ok).toBe(false);
  });
});

it("does not format what would be refused", () => {
  const statement = restoreTestStatement();
  statement.predicate.checks = [];
  expect(() => formatStatement(statement)).toThrow(ProofError);
});

it("answers for anything that is not JSON", () => {
  for (const bytes of [utf8(""), utf8("{"), utf8("null"), utf8("[]"), Uint8Array.of(0xff)])
    expect(parseStatement(bytes)).toMatchObject({
      ok: false,
      issues: [{ path: expect.any(String) as string }],
    });
});
