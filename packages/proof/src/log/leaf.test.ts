import { describe, expect, it } from "vitest";
import { everyMemberRemoved, everyObjectExtended, everyTypeChanged } from "../../test/changes.ts";
import { fromUtf8, utf8 } from "../bytes.ts";
import { ProofError } from "../proof-error.ts";
import { formatLeaf, type Leaf, leafFromJson, parseLeaf } from "./leaf.ts";

const leaf: Leaf = {
  v: 1,
  kind: "restore_test",
  org_id: "org_01jd3gqk7vfx0t6r4t9m2c8w5a",
  id: "rcpt_01jd3gqq8zb14p1s0a5r2h0y8f",
  actor_id: "agent_01jd3gqm3wey1s8p6x2n9d7v4c",
  recorded_at: "2026-11-20T02:00:42.000Z",
  body_sha256: "ab".repeat(32),
  signature: "YWJj",
};

describe("a leaf", () => {
  it("has the same bytes for any order of its fields", () => {
    const bytes =
      `{"actor_id":"agent_01jd3gqm3wey1s8p6x2n9d7v4c","body_sha256":"${"ab".repeat(32)}",` +
      `"id":"rcpt_01jd3gqq8zb14p1s0a5r2h0y8f","kind":"restore_test","org_id":"org_01jd3gqk7vfx0t6r4t9m2c8w5a",` +
      `"recorded_at":"2026-11-20T02:00:42.000Z","signature":"YWJj","v":1}`;
    const { v: _v, ...fields } = leaf;
    expect(fromUtf8(formatLeaf(fields))).toBe(bytes);
    expect(
      fromUtf8(formatLeaf(Object.fromEntries(Object.entries(fields).toReversed()) as typeof fields)),
    ).toBe(bytes);
    expect(parseLeaf(utf8(bytes))).toEqual(leaf);
  });

  it("has no signature if it is an unsigned event, which may be the service's own", () => {
    const { signature: _signature, ...event } = { ...leaf, kind: "backup_missed", actor_id: "service" };
    expect(parseLeaf(formatLeaf(event))).toEqual(event);
  });

  it("is refused if a member is missing, unknown or of another type", () => {
    for (const { path, value } of everyMemberRemoved(leaf)) {
      if (path !== "/signature") expect(() => leafFromJson(value), path).toThrow(ProofError);
    }
    for (const { path, how, value } of everyTypeChanged(leaf)) {
      // No bytes at all are base64 too.
      if (path !== "/signature" || how !== 'made ""')
        expect(() => leafFromJson(value), `${path} ${how}`).toThrow(ProofError);
    }
    for (const { value } of everyObjectExtended(leaf)) expect(() => leafFromJson(value)).toThrow(ProofError);
    const later = expect.objectContaining({ code: "unknown_version" }) as Error;
    expect(() => leafFromJson({ ...leaf, v: 2 })).toThrow(later);
    expect(() => leafFromJson({ v: 3, of: "what nobody knows yet" })).toThrow(later);
    for (const v of [0, -1, 1.5, "2", null])
      expect(() => leafFromJson({ ...leaf, v })).toThrow(
        expect.objectContaining({ code: "malformed_leaf" }) as Error,
      );
  });

  it("has only one spelling", () => {
    const text = fromUtf8(formatLeaf(leaf));
    for (const other of [
      ` ${text}`,
      `${text}\n`,
      text.replace(`"v":1`, `"v":1.0`),
      JSON.stringify(leaf),
      text.replace("a", "\\u0061"),
    ])
      expect(() => parseLeaf(utf8(other)), other).toThrow(ProofError);
  });

  it("is refused if it is larger than an entry bundle can hold", () => {
    const largest = (65_535 - formatLeaf({ ...leaf, signature: "" }).length) & ~3;
    expect(formatLeaf({ ...leaf, signature: "A".repeat(largest) }).length).toBeLessThanOrEqual(65_535);
    expect(() => formatLeaf({ ...leaf, signature: "A".repeat(largest + 4) })).toThrow(ProofError);
  });
});
