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
import { formatStatement, parseRecordedStatement, parseStatement, readStatement } from "./parse-statement.ts";
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

  it("is refused if a required field is missing", () => {
    for (const { path, value } of everyMemberRemoved(make())) {
      const paths = issuePaths(value);
      if (mayGo(path)) expect(paths, path).toEqual([]);
      // Taking away an item leaves a list too short, or a pass without a check.
      else if (/\/\d$/.test(path)) expect(paths.length, path).toBeGreaterThan(0);
      else expect(paths, path).toContain(path);
    }
  });

  it("is refused if a field has another type", () => {
    const isOpen = ({ path, how }: Change): boolean =>
      free.some((open) => path.startsWith(open)) ||
      (path === "/predicate/previous_receipt_sha256" && how === "made null");
    for (const change of everyTypeChanged(make())) {
      const paths = issuePaths(change.value);
      if (isOpen(change)) expect(paths, change.path).toEqual([]);
      else expect(paths, `${change.path} ${change.how}`).toContain(change.path);
    }
  });

  it("is refused with an unknown field, except where its shape is open", () => {
    const isOpen = (path: string): boolean =>
      path.startsWith("/predicate/source_metadata") || path === "/predicate/checks/0/observed";
    for (const { path, value } of everyObjectExtended(make()))
      expect(issuePaths(value), path).toEqual(isOpen(path) ? [] : [`${path}/extra`]);
  });

  it("from a later version is read, and its unknown fields are named", () => {
    for (const { path, value } of everyObjectExtended(make())) {
      const read = readStatement(utf8(JSON.stringify(value)));
      expect(read.statement, path).toBeDefined();
      if (issuePaths(value).length > 0)
        expect(read.added.map((added) => added.path)).toEqual([`${path}/extra`]);
    }
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`extra${n}`, n]));
    const { predicate } = make();
    const hidden = { ...make(), predicate: { ...many, ...predicate, started_at: "yesterday" } };
    expect(readStatement(utf8(JSON.stringify(hidden))).issues.map(({ path }) => path)).toEqual([
      "/predicate/started_at",
    ]);
  });

  it("from a later version is not false because of an unknown type, digest or name", () => {
    const { subject, predicate } = make();
    const [{ name, digest }] = subject;
    const read = (more: object): ReturnType<typeof readStatement> =>
      readStatement(utf8(JSON.stringify({ ...make(), ...more })));
    for (const later of [
      { predicateType: "https://attestore.dev/backup/v2" },
      { predicateType: "https://attestore.dev/backup/v2", predicate: { anything: 1 }, subject: [] },
      { _type: "https://in-toto.io/Statement/v2" },
      { subject: [{ name, digest: { sha512: "ab".repeat(64) } }] },
    ]) {
      const { statement, issues, later: unknown } = read(later);
      expect(statement).toBeUndefined();
      expect(issues).toEqual([]);
      expect(unknown.length).toBeGreaterThan(0);
    }
    expect(
      read({ subject: [{ name, digest: { ...digest, sha512: "ab".repeat(64) } }] }).statement,
    ).toBeDefined();
    for (const wrong of [{ predicateType: 1 }, { _type: "" }, { subject: [{ name, digest: {} }] }])
      expect(read(wrong).issues.length).toBeGreaterThan(0);
    expect(read({ predicate: { ...predicate, org_id: "none", later: 1 } }).issues).toHaveLength(1);
  });

  it("may end before it begins only if an older service recorded it", () => {
    const { predicate } = make();
    const reversed = {
      ...make(),
      predicate: { ...predicate, started_at: predicate.finished_at, finished_at: predicate.started_at },
    };
    const payload = utf8(JSON.stringify(reversed));
    expect(issuePaths(reversed)).toEqual(["/predicate/finished_at"]);
    expect(readStatement(payload).issues.map(({ path }) => path)).toEqual(["/predicate/finished_at"]);
    expect(parseRecordedStatement(payload).ok).toBe(true);
    const instant = { ...make(), predicate: { ...predicate, finished_at: predicate.started_at } };
    expect(issuePaths(instant)).toEqual([]);
  });

  it("must have its predicate's backup as its only subject", () => {
    const other = make();
    other.subject[0].name = "bkp_01jd3gqp7yc03q0r9z4q1g9x7f";
    expect(issuePaths(other)).toEqual(["/predicate/backup_id"]);
    const [subject] = make().subject;
    expect(issuePaths({ ...make(), subject: [subject, subject] })).toEqual(["/subject"]);
    expect(issuePaths({ ...make(), subject: [] })).toEqual(["/subject"]);
  });

  it("must be of a known type", () => {
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

  it("needs at least one check, and none that failed", () => {
    const [check] = restoreTestStatement().predicate.checks;
    expect(issuePaths(withPredicate({ checks: [] }))).toEqual(["/predicate/result"]);
    expect(issuePaths(withPredicate({ checks: [failedCheck] }))).toEqual(["/predicate/result"]);
    expect(issuePaths(withPredicate({ checks: [check, failedCheck] }))).toEqual(["/predicate/result"]);
  });

  it("may be reported as failed with any checks or none", () => {
    for (const checks of [[], [failedCheck], restoreTestStatement().predicate.checks])
      expect(issuePaths(withPredicate({ result: "failed", checks }))).toEqual([]);
  });

  it("cannot have its result twice in one payload", () => {
    const text = canonicalJson(withPredicate({ result: "failed" }));
    const twice = text.replace(`"result":"failed"`, `"result":"failed","result":"passed"`);
    expect(parseStatement(utf8(twice)).ok).toBe(false);
  });
});

it("a statement that would be refused is not formatted", () => {
  const statement = restoreTestStatement();
  statement.predicate.checks = [];
  expect(() => formatStatement(statement)).toThrow(ProofError);
});

it("a payload that is not JSON is malformed", () => {
  for (const bytes of [utf8(""), utf8("{"), utf8("null"), utf8("[]"), Uint8Array.of(0xff)])
    expect(parseStatement(bytes)).toMatchObject({
      ok: false,
      issues: [{ path: expect.any(String) as string }],
    });
});
