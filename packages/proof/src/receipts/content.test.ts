import { describe, expect, test } from "vitest";
import { restoreTestStatement } from "../../test/receipt-fixture.ts";
import { utf8 } from "../bytes.ts";
import { comparedContent, comparedContentText } from "./content.ts";
import { parseRecordedStatement, parseStatement, readStatement } from "./parse-statement.ts";

const [A, B] = ["a".repeat(64), "b".repeat(64)];

function contentCheck(observed: Record<string, unknown>, id = "inferred:content") {
  return {
    id,
    definition_sha256: A,
    observed: { tables: 3, differing: 0, not_compared: 2, sha256: A, signed_sha256: A, ...observed },
    expectation: `differing = 0 and sha256 = '${A}'`,
    result: "passed" as const,
    duration_ms: 1,
  };
}

function payloadWith(check: ReturnType<typeof contentCheck>): Uint8Array {
  const statement = restoreTestStatement();
  const { reason: _why, ...predicate } = statement.predicate;
  return utf8(
    JSON.stringify({ ...statement, predicate: { ...predicate, result: "passed", checks: [check] } }),
  );
}

describe("a pass", () => {
  test("is valid if its content is the signed one", () => {
    expect(readStatement(payloadWith(contentCheck({}))).issues).toEqual([]);
  });

  test.each([
    ["another digest", { sha256: B }],
    ["tables that differ", { differing: 1 }],
    ["nothing that was compared", { tables: 0 }],
  ])("is refused with %s", (_, observed) => {
    for (const id of ["inferred:content", "inferred:content:shop"]) {
      const payload = payloadWith(contentCheck(observed, id));
      const issues = [
        { path: "/predicate/checks/0/observed", message: "is not the content that the check says it held" },
      ];
      expect(readStatement(payload).issues).toEqual(issues);
      expect(parseStatement(payload)).toEqual({ ok: false, issues });
      expect(parseRecordedStatement(payload)).toEqual({ ok: false, issues });
    }
  });

  test("is refused if its objects are not the signed ones", () => {
    const objects = (observed: Record<string, unknown>) =>
      payloadWith(contentCheck({ objects: 3, found: 3, ...observed }, "inferred:objects"));
    expect(readStatement(objects({})).issues).toEqual([]);
    expect(readStatement(objects({ sha256: B })).issues).toHaveLength(1);
    expect(readStatement(objects({ differing: 1 })).issues).toHaveLength(1);
  });

  test("of a later version of the check, with other members, is not refused", () => {
    const later = { ...contentCheck({ sha256: { keyed: B }, differing: [] }), expectation: "like = signed" };
    expect(readStatement(payloadWith(later)).issues).toEqual([]);
  });
});

test("names the tables that were compared, and that were not", () => {
  const two = [
    contentCheck({}, "inferred:content:a"),
    contentCheck({ not_compared: 0 }, "inferred:content:b"),
  ];
  expect(comparedContent(two)).toEqual({ tables: 6, differing: 0, notCompared: 2, objects: null });
  expect(comparedContentText(two)).toBe(
    "content of 6 tables compared; not compared: 2 more; objects not compared",
  );
  const objects = contentCheck({ objects: 9, differing: 2, not_compared: 0 }, "inferred:objects");
  expect(comparedContent([...two, objects])?.objects).toEqual({ count: 9, differing: 2 });
  expect(comparedContentText([...two, objects])).toBe(
    "content of 6 tables compared; not compared: 2 more; 9 objects compared, 2 not as at the source",
  );
  expect(comparedContentText([contentCheck({ differing: 1, tables: 1, not_compared: 0 })])).toBe(
    "content of 1 table compared, 1 not what the dump holds; objects not compared",
  );
  expect(comparedContent([])).toBeNull();
  expect(comparedContentText([contentCheck({}, "inferred:tables")])).toBe("content not compared");
});

test("where no table's content was compared, the text does not count tables", () => {
  const objects = contentCheck({ objects: 9, not_compared: 0 }, "inferred:objects");
  expect(comparedContentText([objects])).toBe("9 objects compared; content not compared");
  const ofDump = { objects: 9, not_compared: 2, differing: 1, compared_with: "dump" };
  expect(comparedContentText([contentCheck(ofDump, "inferred:objects")])).toContain(
    "9 objects compared, 1 not as in the dump, 2 not, which the copy prints in another way",
  );
  const changed = contentCheck({ objects: 9, not_compared: 2 }, "inferred:objects");
  expect(comparedContent([changed])?.objects).toEqual({ count: 9, differing: 0, notCompared: 2 });
  expect(comparedContentText([changed])).toBe(
    "9 objects compared, 2 not, because they changed during the dump; content not compared",
  );
});

test("tables that were not compared are named with the reason, as far as the receipt has names", () => {
  const named = (not_compared: number, not_compared_tables: unknown, id?: string) =>
    contentCheck({ not_compared, not_compared_tables }, id);
  const text = (...checks: ReturnType<typeof named>[]) => comparedContentText(checks).split(";")[1];
  expect(text(named(1, "public.prices (money)"))).toBe(" not compared: public.prices (money)");
  // The end of the names is cut off.
  expect(text(named(4, "a (money), b (no_time), publ…"))).toBe(
    " not compared: a (money), b (no_time) and 2 more",
  );
  expect(
    text(named(1, "a, b (money)", "inferred:content:x"), named(1, "c (money)", "inferred:content:y")),
  ).toBe(" not compared: a, b (money), c (money)");
  const many = Array.from({ length: 9 }, (_, n) => `t${n} (money)`).join(", ");
  expect(text(named(9, many))).toContain("t4 (money) and 4 more");
  expect(text(named(2, { text: "long" }))).toBe(" not compared: 2 more");
  expect(text(named(1, many))).toBe(" not compared: t0 (money)");
});

test("the text names owners and grants after the objects, and a pass that contradicts them is refused", () => {
  const privileges = (observed: Record<string, unknown>) =>
    contentCheck({ objects: 4, not_compared: 0, ...observed }, "inferred:privileges");
  const objects = contentCheck({ objects: 9, not_compared: 0 }, "inferred:objects");
  expect(comparedContent([objects, privileges({})])?.privileges).toEqual({ count: 4, differing: 0 });
  expect(
    comparedContentText([contentCheck({ not_compared: 0 }), objects, privileges({ differing: 1 })]),
  ).toBe(
    "content of 3 tables compared; 9 objects compared; owners and grants of 4 objects compared, 1 not as at the source",
  );
  const left = { not_compared: 1, not_compared_objects: "all of the kind large object privileges" };
  expect(comparedContentText([contentCheck({ not_compared: 0 }), objects, privileges(left)])).toMatch(
    /owners and grants of 4 objects compared, not compared: all of the kind large object privileges$/,
  );
  expect(readStatement(payloadWith(privileges({}))).issues).toEqual([]);
  expect(readStatement(payloadWith(privileges({ differing: 1 }))).issues).toHaveLength(1);
  expect(readStatement(payloadWith(privileges({ sha256: B }))).issues).toHaveLength(1);
});

test("objects that a test does not restore are listed separately, and a pass that contradicts them is refused", () => {
  const unrestored = (observed: Record<string, unknown>) =>
    contentCheck({ objects: 4, not_compared: 0, ...observed }, "inferred:unrestored");
  const objects = contentCheck({ objects: 9, not_compared: 0 }, "inferred:objects");
  const rows = contentCheck({ not_compared: 0 });
  expect(comparedContent([objects, unrestored({})])?.unrestored).toEqual({
    count: 4,
    differing: 0,
    notCompared: 0,
  });
  expect(comparedContentText([rows, objects, unrestored({ differing: 1 })])).toBe(
    "content of 3 tables compared; 9 objects compared; 4 objects that a test does not restore compared in the dump, 1 not as at the source",
  );
  const hidden = { not_compared: 1, not_compared_objects: "all of the kind subscription" };
  expect(comparedContentText([rows, objects, unrestored(hidden)])).toMatch(
    /compared in the dump, not compared: all of the kind subscription$/,
  );
  expect(readStatement(payloadWith(unrestored({}))).issues).toEqual([]);
  expect(readStatement(payloadWith(unrestored({ differing: 1 }))).issues).toHaveLength(1);
  expect(readStatement(payloadWith(unrestored({ sha256: B }))).issues).toHaveLength(1);
});

test("the text names what belongs to a whole server separately, and a pass that contradicts it is refused", () => {
  const globals = (observed: Record<string, unknown>) =>
    contentCheck({ objects: 4, not_compared: 0, ...observed }, "inferred:globals");
  const objects = contentCheck({ objects: 9, not_compared: 0 }, "inferred:objects:shop");
  const rows = contentCheck({ not_compared: 0 });
  const roles = { id: "inferred:roles", observed: { roles: 2, missing: 0 } };
  expect(comparedContent([objects, globals({})])?.globals).toEqual({
    count: 4,
    differing: 0,
    notCompared: 0,
  });
  expect(comparedContentText([rows, roles, objects, globals({ differing: 1 })])).toBe(
    "content of 3 tables compared; 9 objects compared; 4 roles, memberships and settings compared in the dump, 1 not as at the source",
  );
  const left = {
    not_compared: 1,
    not_compared_objects: "all of the kind role password",
    not_looked_at: 1,
    not_looked_at_objects: "membership a to b",
  };
  expect(comparedContentText([rows, objects, globals(left)])).toMatch(
    /compared in the dump, not compared: all of the kind role password, not taken by the sandbox: membership a to b$/,
  );
  // An earlier agent signed nothing to compare roles with.
  expect(comparedContentText([rows, roles, objects])).toBe(
    "content of 3 tables compared; 9 objects compared; attributes, memberships and settings of roles not compared",
  );
  expect(readStatement(payloadWith(globals({}))).issues).toEqual([]);
  expect(readStatement(payloadWith(globals({ differing: 1 }))).issues).toHaveLength(1);
  expect(readStatement(payloadWith(globals({ sha256: B }))).issues).toHaveLength(1);
});

test("objects that the sandbox could not compare are named", () => {
  const names = { not_looked_at: 3, not_looked_at_objects: "all of the kind publication, event tr…" };
  const objects = contentCheck({ objects: 9, not_compared: 0, ...names }, "inferred:objects");
  expect(comparedContent([objects])?.objects).toEqual({ count: 9, differing: 0, notLookedAt: 3 });
  expect(comparedContentText([objects])).toBe(
    "9 objects compared, not compared: all of the kind publication and 2 more; content not compared",
  );
});

test("if a receipt has only the first names of a list, the text names those", () => {
  const start = { text: "all of the kind trigger, all of the kind eve", length: 300, sha256: A };
  const names = { not_looked_at: 9, not_looked_at_objects: start };
  expect(
    comparedContentText([contentCheck({ objects: 9, not_compared: 0, ...names }, "inferred:objects")]),
  ).toBe("9 objects compared, not compared: all of the kind trigger and 8 more; content not compared");
});

test("where a part of the definitions was left out, the text says so", () => {
  const less_exactly = "expressions without casts, parentheses and spaces";
  const earlier = contentCheck({ objects: 9, not_compared: 0, less_exactly }, "inferred:objects");
  expect(comparedContent([earlier])?.objects).toEqual({ count: 9, differing: 0, lessExactly: true });
  expect(comparedContentText([earlier])).toBe(
    "9 objects compared, their expressions without casts, parentheses and spaces; content not compared",
  );
});

test("for a tree of files, it says which attributes were compared", () => {
  const manifest = contentCheck({}, "inferred:manifest");
  expect(comparedContentText([manifest])).toBe(
    "content compared; not compared: owners, times, ACLs and extended attributes",
  );
  const attributes = { times: 3, acls: 1, xattrs: 2, not_compared_kinds: "owners" };
  expect(comparedContentText([manifest, contentCheck(attributes, "inferred:attributes")])).toBe(
    "content, times, 1 ACL and 2 extended attributes compared; not compared: owners",
  );
  const other = { ...manifest, result: "failed" as const };
  expect(
    comparedContentText([other, contentCheck({ ...attributes, owners: 3 }, "inferred:attributes")]),
  ).toBe("times, 1 ACL, 2 extended attributes and the archive's owners compared; not compared: owners");
  const failed = { times: 3, differing: 1, differing_kinds: "times", not_compared_kinds: "owners" };
  expect(comparedContentText([manifest, contentCheck(failed, "inferred:attributes")])).toBe(
    "content and times compared, times not as archived; not compared: owners",
  );
});

test("the text says why another program's backup is not compared further, if its test does", () => {
  const of = (id: string) => contentCheck({ why_not_compared: "nobody listed them" }, id);
  expect(comparedContentText([of("inferred:data")])).toBe("content not compared (nobody listed them)");
  expect(comparedContentText([contentCheck({ not_compared: 0 }), of("inferred:data")])).toBe(
    "content of 3 tables compared; objects not compared (nobody listed them)",
  );
  expect(comparedContentText([of("inferred:files")])).toBe("content not compared (nobody listed them)");
  expect(comparedContentText([of("another")])).toBe("content not compared");
});
