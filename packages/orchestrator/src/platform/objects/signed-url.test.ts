import fc from "fast-check";
import { expect, test } from "vitest";
import { isObjectKey } from "./object-key.ts";
import { openPermission, signPermission } from "./signed-url.ts";
import type { Permission } from "./signed-url.ts";

const HMAC_KEY = Buffer.alloc(32, 7);
const KEY = "org_1/src_1/upl_1.age";
const NOW = new Date("2026-11-20T12:00:00Z");
const LATER = new Date(NOW.getTime() + 900_000);
const PUT: Permission = { method: "PUT", key: KEY, sizeBytes: 5, sha256: "ab".repeat(32), expiresAt: LATER };
const GET: Permission = { method: "GET", key: KEY, expiresAt: LATER };
const PART: Permission = {
  method: "PUT",
  key: KEY,
  uploadId: "0123456789abcdef".repeat(2),
  partNumber: 2,
  sizeBytes: 5,
  expiresAt: LATER,
};

function open(permission: Permission, change: (query: URLSearchParams) => void = () => undefined) {
  const query = new URLSearchParams(signPermission(permission, HMAC_KEY));
  change(query);
  return openPermission(permission.method, permission.key, query, HMAC_KEY, NOW);
}

test("a signed URL permits exactly what was signed", () => {
  expect(open(PUT)).toEqual({ ok: true, permission: PUT });
  expect(open(GET)).toEqual({ ok: true, permission: GET });
  expect(open({ ...PUT, sizeBytes: 0 })).toMatchObject({ ok: true });
});

test("method, key, length, digest, expiry and the HMAC key are all bound", () => {
  const invalid = { ok: false, reason: "invalid" };
  const putQuery = new URLSearchParams(signPermission(PUT, HMAC_KEY));
  const getQuery = new URLSearchParams(signPermission(GET, HMAC_KEY));
  expect(openPermission("GET", KEY, putQuery, HMAC_KEY, NOW)).toEqual(invalid);
  expect(openPermission("PUT", KEY, getQuery, HMAC_KEY, NOW)).toEqual(invalid);
  expect(openPermission("PUT", "org_1/src_1/upl_2.age", putQuery, HMAC_KEY, NOW)).toEqual(invalid);
  expect(openPermission("PUT", KEY, putQuery, Buffer.alloc(32, 8), NOW)).toEqual(invalid);
  expect(open(PUT, (query) => query.set("size", "6"))).toEqual(invalid);
  expect(open(PUT, (query) => query.set("size", "05"))).toEqual(invalid);
  expect(open(PUT, (query) => query.set("sha256", "cd".repeat(32)))).toEqual(invalid);
  expect(open(PUT, (query) => query.set("expires", String(LATER.getTime() / 1000 + 1)))).toEqual(invalid);
  expect(open(PUT, (query) => query.append("size", "5"))).toEqual(invalid);
  expect(open(PUT, (query) => query.append("more", "1"))).toEqual(invalid);
  for (const name of putQuery.keys())
    expect(
      open(PUT, (query) => query.delete(name)),
      name,
    ).toEqual(invalid);
});

test("of a part, its upload and its number are bound too", () => {
  const invalid = { ok: false, reason: "invalid" };
  expect(open(PART)).toEqual({ ok: true, permission: PART });
  const query = new URLSearchParams(signPermission(PART, HMAC_KEY));
  expect(openPermission("GET", KEY, query, HMAC_KEY, NOW)).toEqual(invalid);
  expect(openPermission("PUT", "org_1/src_1/upl_2.age", query, HMAC_KEY, NOW)).toEqual(invalid);
  for (const [name, value] of [
    ["part", "1"],
    ["part", "02"],
    ["part", "-2"],
    ["upload", "f".repeat(32)],
    ["upload", "../.."],
    ["size", "6"],
    ["expires", String(LATER.getTime() / 1000 + 1)],
  ] as const)
    expect(
      open(PART, (changed) => changed.set(name, value)),
      `${name}=${value}`,
    ).toEqual(invalid);
  for (const name of query.keys())
    expect(
      open(PART, (changed) => changed.delete(name)),
      name,
    ).toEqual(invalid);
  expect(open(PART, (changed) => changed.set("sha256", "ab".repeat(32)))).toEqual(invalid);
});

test("a signed URL ends at its expiry", () => {
  const query = new URLSearchParams(signPermission(GET, HMAC_KEY));
  const at = (time: Date) => openPermission("GET", KEY, query, HMAC_KEY, time).ok;
  expect(at(new Date(LATER.getTime() - 1))).toBe(true);
  expect(openPermission("GET", KEY, query, HMAC_KEY, LATER)).toEqual({ ok: false, reason: "expired" });
});

test("any changed signature is refused, and no query makes it throw", () => {
  const genuine = new URLSearchParams(signPermission(PUT, HMAC_KEY)).get("signature") ?? "";
  fc.assert(
    fc.property(
      fc.oneof(fc.nat(42), fc.constant(42)),
      fc.constantFrom("A", "B", "C", "x", "y", "0", "9", "_", "-"),
      (position, character) => {
        const changed = genuine.slice(0, position) + character + genuine.slice(position + 1);
        expect(open(PUT, (query) => query.set("signature", changed)).ok).toBe(changed === genuine);
      },
    ),
  );
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom("expires", "size", "sha256", "signature", "x"), fc.string()),
      (fields) => {
        expect(openPermission("PUT", KEY, new URLSearchParams(fields), HMAC_KEY, NOW).ok).toBe(false);
      },
    ),
  );
});

test("only plain paths are object keys", () => {
  for (const key of [KEY, "a", "A-b_c.d/e"]) expect(isObjectKey(key), key).toBe(true);
  const others = [
    "",
    "/a",
    "a/",
    "a//b",
    ".",
    "..",
    "a/../b",
    "a/./b",
    ".incoming/a",
    "a/.b",
    "a\\b",
    "a b",
    "a\0",
    "ä",
    "a%2e",
    "-a",
  ];
  for (const key of [...others, "a\n", "a".repeat(129), "a/".repeat(400)])
    expect(isObjectKey(key), key).toBe(false);
});
