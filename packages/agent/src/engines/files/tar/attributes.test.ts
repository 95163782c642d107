import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import type { CheckOutcome } from "@attestore/proof";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { archiveOf, type Member, ROOT } from "../../../../test/files/archive.ts";
import { ALL_PASSED, dumpTree, inferred, makePlace, restoreTree } from "../../../../test/files/round-trip.ts";
import type { ForeignMetadata } from "../../engine.ts";
import { type ArchivedAttributes, AttributeDigests } from "../attributes/attribute-digests.ts";
import { attributesOf } from "./attributes.ts";
import { compareAttributes } from "../attributes/compare-attributes.ts";
import { signAttributes } from "../attributes/signed-attributes.ts";
import { NOTHING_UNSET } from "./tar-warnings.ts";
import { MalformedArchive } from "./tar-header.ts";
import { TarReader } from "./tar-reader.ts";

const KEY = Buffer.alloc(32, 7);
const ON_DISK = "the restored files' owners";

let place: ReturnType<typeof makePlace>;
let scratch: string;
let trees = 0;

beforeEach(() => {
  place = makePlace();
  scratch = join(place.path, "scratch");
});
afterEach(() => {
  expect(existsSync(scratch) ? readdirSync(scratch) : []).toEqual([]);
  place.remove();
});

/** A directory with these members, and the times and attributes of their pax headers. */
function treeOf(members: readonly Member[]): string {
  const path = join(place.path, `source-${(trees += 1)}`);
  mkdirSync(path);
  const root: Member = { ...ROOT, pax: { mtime: "1000000000" } };
  execFileSync("tar", ["-xp", "--acls", "--xattrs", "--xattrs-include=*", "-C", path], {
    input: archiveOf([root, ...members]),
    stdio: ["pipe", "ignore", "ignore"],
  });
  return path;
}

const dump = (members: readonly Member[]) => dumpTree(treeOf(members), { contentKey: KEY });

interface Looked {
  readonly others: readonly string[];
  readonly attributes: CheckOutcome | null;
}

/** A restore test of an archive whose backup says so of itself. */
function test(archive: Buffer, metadata: ForeignMetadata): Promise<Looked> {
  const { signal } = new AbortController();
  return restoreTree(
    archive,
    scratch,
    async (restored) => {
      const others = await inferred(restored, metadata as never);
      const comparison = { metadata, key: KEY, budget_ms: 60_000, signal };
      const [attributes] = (await restored.compareContent?.(comparison)) ?? [];
      return { others, attributes: attributes ?? null };
    },
    signal,
    metadata,
  );
}

/** A namespace in which only one user has a number can keep ACLs that name nobody. */
const ACL = "user::rw-\ngroup::r--\nmask::rwx\nother::r--\n";
const INHERITED = "user::rwx\ngroup::r-x\nother::---\n";
const NAMED = "user::rw-\nuser:4321:rwx\ngroup::r--\nmask::rwx\nother::r--\n";
const TIME = "1700000000.123456789";

const MEMBERS: readonly Member[] = [
  {
    name: "./dir/",
    type: "5",
    mode: 0o755,
    pax: { mtime: "1600000000.5", "SCHILY.acl.default": INHERITED, "SCHILY.acl.access": "" },
  },
  { name: "./dir/locked", mode: 0, content: "x", pax: { mtime: TIME } },
  {
    name: "./file",
    mode: 0o674,
    content: "x",
    pax: { mtime: TIME, "SCHILY.acl.access": ACL, "SCHILY.xattr.user.origin": "a\nb\0c=d" },
  },
  { name: "./link", type: "2", linkName: "file", pax: { mtime: "1500000000.25" } },
  { name: "./old", content: "x", pax: { mtime: "-86400.5" } },
  { name: "./second", type: "1", linkName: "./file" },
];

/** The members, with another pax record for one of them. */
function withPax(name: string, pax: Readonly<Record<string, string>>): readonly Member[] {
  return MEMBERS.map((each) => (each.name === name ? { ...each, pax: { ...each.pax, ...pax } } : each));
}

describe("times, ACLs and extended attributes", () => {
  it("come back as they were archived", async () => {
    const { archive, metadata } = await dump(MEMBERS);
    expect(metadata).toMatchObject({
      attributes: { times: { count: 6 }, acls: { count: 2 }, xattrs: { count: 1 }, other_xattrs: 0 },
    });
    const { others, attributes } = await test(archive, metadata);
    expect(others).toEqual(ALL_PASSED);
    expect(attributes).toMatchObject({
      id: "inferred:attributes",
      result: "passed",
      observed: { times: 6, owners: 6, acls: 2, xattrs: 1, differing: 0, not_compared_kinds: ON_DISK },
    });
  });

  it.each([
    ["times", "./file", { mtime: "1700000000.123456788" }],
    ["times", "./link", { mtime: "1500000000" }],
    ["times", "./dir/", { mtime: "1600000001.5" }],
    ["times", "./old", { mtime: "-86400.4" }],
    ["ACLs", "./file", { "SCHILY.acl.access": ACL.replace("group::r--", "group::r-x") }],
    ["ACLs", "./dir/", { "SCHILY.acl.default": INHERITED.replace("other::---", "other::r--") }],
    ["ACLs", "./dir/", { "SCHILY.acl.default": "" }],
    ["extended attributes", "./file", { "SCHILY.xattr.user.origin": "a\nb\0c=e" }],
    ["extended attributes", "./file", { "SCHILY.xattr.user.more": "" }],
  ] as const)("that are others fail the test: %s of %s %j", async (kind, name, pax) => {
    const { metadata } = await dump(MEMBERS);
    const { archive } = await dump(withPax(name, pax));
    const { others, attributes } = await test(archive, metadata);
    expect(others).toEqual(ALL_PASSED);
    expect(attributes).toMatchObject({
      result: "failed",
      observed: { differing: 1, differing_kinds: kind, error: expect.stringContaining(`the ${kind} of`) },
    });
  });

  it("whose names contain = or % are compared too", async () => {
    const named = (value: string): readonly Member[] => [
      { name: "./x", pax: { "SCHILY.xattr.user.a%3Db": "1", "SCHILY.xattr.user.p%25%253D": value } },
    ];
    const { archive, metadata } = await dump(named("2"));
    expect(metadata).toMatchObject({ attributes: { escaped_xattrs: { count: 2 }, other_xattrs: 2 } });
    expect((await test(archive, metadata)).attributes).toMatchObject({
      result: "passed",
      observed: { xattrs: 2, not_compared_kinds: ON_DISK },
    });
    const other = await dump(named("3"));
    expect((await test(other.archive, metadata)).attributes).toMatchObject({
      result: "failed",
      observed: { differing_kinds: "extended attributes" },
    });
    const signed = metadata["attributes"] as Record<string, unknown>;
    const { escaped_xattrs: _, outside_xattrs: __, ...earlier } = signed;
    expect((await test(archive, { ...metadata, attributes: earlier })).attributes).toMatchObject({
      result: "passed",
      observed: { not_compared_kinds: `${ON_DISK}, 2 extended attributes (outside of user.)` },
    });
  });

  it("that the sandbox can't set are named", async () => {
    const { archive, metadata } = await dump([
      ...MEMBERS,
      { name: "./tool", mode: 0o755, content: "x", pax: { "SCHILY.xattr.security.other": "x" } },
      { name: "./unwritable", mode: 0o444, content: "x", pax: { "SCHILY.xattr.user.a": "b" } },
    ]);
    const { others, attributes } = await test(archive, metadata);
    expect(others).toEqual(ALL_PASSED);
    expect(attributes).toMatchObject({
      result: "passed",
      observed: {
        times: 8,
        acls: 2,
        not_compared_kinds: `${ON_DISK}, 2 extended attributes (on files that are not writable), 1 extended attribute outside of user. in the restored files`,
        outside_xattrs: 1,
      },
    });
    expect(attributes?.observed).not.toHaveProperty("xattrs");
  });

  it("are named where the sandbox knows no such user", async () => {
    const members = withPax("./file", { "SCHILY.acl.access": NAMED.replace("4321", "nemone") });
    const { attributes } = await test(archiveOf([ROOT, ...members]), await signedFor(members));
    expect(attributes).toMatchObject({
      result: "passed",
      observed: { xattrs: 1, not_compared_kinds: `${ON_DISK}, 2 ACLs (the sandbox could not set them)` },
    });
  });

  it("are not compared where the backup has no digests of them", async () => {
    const { archive, metadata } = await dumpTree(treeOf(MEMBERS));
    expect(metadata).not.toHaveProperty("attributes");
    expect(await test(archive, metadata)).toEqual({ others: ALL_PASSED, attributes: null });
    const claims = { ...metadata, attributes: { times: { count: 1, tag: "x" } } };
    expect(await test(archive, claims)).toEqual({ others: ALL_PASSED, attributes: null });
  });

  it("far from 1970 are compared in the archive, because file systems keep them differently", async () => {
    const far = (mtime: string): readonly Member[] => [{ name: "./far", content: "x", pax: { mtime } }];
    const { archive, metadata } = await dump(far("4294967296"));
    expect((await test(archive, metadata)).attributes).toMatchObject({ result: "passed" });
    const other = await dump(far("2147483647"));
    expect((await test(other.archive, metadata)).attributes).toMatchObject({
      result: "failed",
      observed: { differing_kinds: "times" },
    });
    const { archived: _, ...earlier } = (metadata["attributes"] as { times: Record<string, unknown> }).times;
    const attributes = { ...(metadata["attributes"] as object), times: earlier };
    expect((await test(other.archive, { ...metadata, attributes })).attributes).toMatchObject({
      result: "passed",
    });
  });

  it("are not compared by tags that a reader of the receipt could compute", async () => {
    const path = treeOf(MEMBERS);
    const one = await dumpTree(path, { contentKey: KEY });
    const other = await dumpTree(path, { contentKey: Buffer.alloc(32, 8) });
    const tags = ({ metadata }: typeof one): string[] =>
      JSON.stringify(metadata["attributes"]).match(/[0-9a-f]{32}/g) ?? [];
    expect(tags(one)).toHaveLength(9);
    expect(tags(one).filter((tag) => tags(other).includes(tag))).toEqual([]);
  });
});

/** What tar can set on no host: a user nobody knows, and a name longer than the kernel takes. */
const STRANGER = { "SCHILY.acl.access": NAMED.replace("4321", "nobody-knows") };
const TOO_LONG = (name: string) => ({ [`SCHILY.xattr.user.${name}${"x".repeat(256)}`]: "1" });
const ORIGIN = (value: string) => ({ "SCHILY.xattr.user.origin": value });

/** An ACL that names user 1, as the kernel keeps it. */
const NUMERIC = {
  "SCHILY.xattr.system.posix_acl_access": Buffer.from(
    "0200000001000600ffffffff020007000100000004000400ffffffff10000700ffffffff20000400ffffffff",
    "hex",
  ).toString("latin1"),
};

/** What an archive with these members would be signed with. */
const signedFor = async (members: readonly Member[]): Promise<ForeignMetadata> => {
  const archived = new AttributeDigests();
  const nothing = { content() {}, hole() {}, entryEnd() {} };
  const reader = new TarReader({ ...nothing, entry: (...entry) => archived.add(...entry) });
  await reader.push(archiveOf([ROOT, ...members]));
  return { attributes: signAttributes(archived.finish(), KEY) };
};
/** The signed members, of which tar loses one without a word. */
const testLosing = async (members: readonly Member[], lost: string): Promise<CheckOutcome | null> => {
  const metadata = await signedFor(members);
  const { signal } = new AbortController();
  return restoreTree(
    archiveOf([ROOT, ...members]),
    scratch,
    async (restored, tree) => {
      execFileSync("python3", ["-c", lost], { cwd: tree });
      const comparison = { metadata, key: KEY, budget_ms: 60_000, signal };
      return (await restored.compareContent?.(comparison))?.[0] ?? null;
    },
    signal,
    metadata,
  );
};

describe("a name that contains what tar says if it could not set something", () => {
  const LOSE_XATTR = "import os; os.removexattr('z', 'user.origin')";
  const LOSE_ACL = "import os; os.removexattr('z', 'system.posix_acl_access')";

  it.each([
    "XATTR support",
    "a: Cannot set 'user.b' extended attribute for file 'c': Operation not supported",
    "a\ntar: setxattrat: Cannot set 'user.b' extended attribute for file 'c': x",
  ])("does not hide that an extended attribute was lost: %j", async (name) => {
    const members = [
      { name: `./${name}`, pax: STRANGER },
      { name: "./z", pax: ORIGIN("a") },
    ];
    expect(await testLosing(members, LOSE_XATTR)).toMatchObject({
      result: "failed",
      observed: { differing_kinds: expect.stringMatching(/extended attributes$/) as string },
    });
  });

  it.each([
    "POSIX ACL",
    "a: Warning: Cannot acl_from_text: Invalid argument",
    "a': x\ntar: acl_set_file_at: Cannot set POSIX ACLs for file 'b",
  ])("does not hide that an ACL was lost: %j", async (name) => {
    const members = [
      { name: `./${name}`, pax: TOO_LONG("") },
      { name: "./y", pax: TOO_LONG(name) },
      { name: "./z", mode: 0o674, pax: { "SCHILY.acl.access": ACL } },
    ];
    expect(await testLosing(members, LOSE_ACL)).toMatchObject({
      result: "failed",
      observed: { differing_kinds: expect.stringMatching(/^ACLs/) as string },
    });
  });
});

it("attributes that the archive lost fail the test, also where the sandbox can't set them", async () => {
  const members = (value: string): readonly Member[] => [
    { name: "./locked", mode: 0o444, pax: ORIGIN(value) },
    { name: "./z", pax: { "SCHILY.acl.access": STRANGER["SCHILY.acl.access"].replace("rwx", value) } },
  ];
  const metadata = await signedFor(members("r-x"));
  const { attributes } = await test(archiveOf([ROOT, ...members("rw-")]), metadata);
  expect(attributes).toMatchObject({
    result: "failed",
    observed: { differing_kinds: "ACLs and extended attributes" },
  });
});

describe("what no sandbox restores, and somebody who restores by hand gets", () => {
  const CAPABILITY = { "SCHILY.xattr.security.capability": "\x01\0\0\x02\0\x20\0\0".padEnd(20, "\0") };
  const OPEN = "user::rw-\ngroup::rwx\nother::rwx\n";
  it.each<[string, Readonly<Record<string, string>>, Readonly<Record<string, string>>, string]>([
    ["a file capability that was added", {}, CAPABILITY, "extended attributes outside of user."],
    ["a file capability that was lost", CAPABILITY, {}, "extended attributes outside of user."],
    [
      "another value of trusted.",
      { "SCHILY.xattr.trusted.a": "b" },
      { "SCHILY.xattr.trusted.a": "c" },
      "extended attributes outside of user.",
    ],
    ["an ACL that only widens the mode", {}, { "SCHILY.acl.access": OPEN }, "ACLs"],
    [
      "another user's name in an ACL that has the right number",
      { "SCHILY.acl.access": NAMED.replace("4321", "daemon"), ...NUMERIC },
      { "SCHILY.acl.access": NAMED.replace("4321", "nobody"), ...NUMERIC },
      "ACLs",
    ],
  ])("fails the test: %s", async (_what, before, after, kinds) => {
    const members = (more: Readonly<Record<string, string>>): readonly Member[] => [
      { name: "./x", pax: { mtime: TIME, ...more } },
    ];
    const metadata = await signedFor(members(before));
    const honest = await test(archiveOf([ROOT, ...members(before)]), metadata);
    expect(honest.attributes).toMatchObject({ result: "passed" });
    const { attributes } = await test(archiveOf([ROOT, ...members(after)]), metadata);
    expect(attributes).toMatchObject({ result: "failed", observed: { differing_kinds: kinds } });
  });
});

it("what tar could not set is named, however much tar says before", async () => {
  const members = Array.from({ length: 40 }, (_, at) => ({
    name: `./${String(at).padStart(2, "0")}`,
    pax: TOO_LONG("y".repeat(400)),
  }));
  const outcome = await testLosing([...members, { name: "./z", pax: STRANGER }], "pass");
  expect(outcome).toMatchObject({
    result: "passed",
    observed: {
      not_compared_kinds: expect.stringContaining(
        "1 ACL (the sandbox could not set them), 40 extended attributes (the sandbox could not set them)",
      ) as string,
    },
  });
});

describe("ACLs that name users", () => {
  const attributesOfAcl = (text: string, numbers: string): ArchivedAttributes => {
    const digests = new AttributeDigests();
    const pax = new Map([
      ["SCHILY.acl.access", text],
      ["SCHILY.xattr.system.posix_acl_access", Buffer.from(numbers, "hex").toString("latin1")],
    ]);
    digests.add(
      { kind: "file", path: "file", mode: 0o674, size: 1 },
      attributesOf({ modified: 0, user: 0, group: 0 }, pax),
    );
    return digests.finish();
  };
  const at = (user: string): string => `0200000002000700${user}04000400ffffffff`;
  const archived = attributesOfAcl(NAMED, at("e1100000"));
  const compared = (others: ArchivedAttributes, unset = NOTHING_UNSET): CheckOutcome =>
    compareAttributes(
      signAttributes(archived, KEY),
      { times: archived.times, archived, others, unset, duration_ms: 1 },
      KEY,
    );

  it("are equal if the numbers are, whatever the users are called here", () => {
    const others = attributesOfAcl(NAMED.replace("4321", "ann"), at("e1100000"));
    expect(compared(others)).toMatchObject({
      result: "passed",
      observed: { acls: 1, not_compared_kinds: ON_DISK },
    });
  });

  it("are not compared if the users have other numbers here", () => {
    expect(compared(attributesOfAcl(NAMED, at("e2100000")))).toMatchObject({
      result: "passed",
      observed: { not_compared_kinds: `${ON_DISK}, 1 ACL (the users have other numbers here)` },
    });
  });

  it("are not compared if tar could not set them, and differ if it said nothing", () => {
    const lost = new AttributeDigests();
    const none = lost.finish();
    const refused = { ...NOTHING_UNSET, acls: true };
    const notSet = `${ON_DISK}, 1 ACL (the sandbox could not set them)`;
    expect(compared(none, refused).observed).toMatchObject({ not_compared_kinds: notSet });
    expect(compared(none)).toMatchObject({ result: "failed", observed: { differing_kinds: "ACLs" } });
  });

  it("are named if there was no time to read them", () => {
    const signed = signAttributes(archived, KEY);
    const { times } = archived;
    const found = { times, archived, others: "no_time", unset: NOTHING_UNSET, duration_ms: 1 } as const;
    expect(compareAttributes(signed, found, KEY).observed).toMatchObject({
      not_compared_kinds: `${ON_DISK}, 1 ACL (no_time)`,
    });
  });
});

it.each([
  "tar: ./file: Warning: Cannot fgetxattr: Input/output error",
  "tar: ./a\\: b: Warning: Cannot acl_get_file_at: Permission denied",
  "tar: POSIX ACL support is not available",
  "tar: XATTR support is not available",
])("what tar could not read at the source is named: %s", async (line) => {
  const tree = treeOf(MEMBERS);
  const programs = join(place.path, "programs");
  mkdirSync(programs);
  const { PATH } = process.env;
  const script = `#!/bin/sh\nPATH=${PATH}\ncase "$*" in *--create*) echo '${line}' >&2;; esac\nexec tar "$@"\n`;
  writeFileSync(join(programs, "tar"), script, { mode: 0o755 });
  process.env["PATH"] = `${programs}:${PATH}`;
  const { archive, metadata } = await dumpTree(tree, { contentKey: KEY }).finally(
    () => (process.env["PATH"] = PATH),
  );
  expect((await test(archive, metadata)).attributes).toMatchObject({
    result: "passed",
    observed: {
      not_compared_kinds: `ACLs and extended attributes that tar could not read at the source, ${ON_DISK}`,
    },
  });
});

it("sockets at the source, which no archive has, are named", async () => {
  const tree = treeOf(MEMBERS);
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(join(tree, "socket"), resolve));
  const { archive, metadata } = await dumpTree(tree, { contentKey: KEY }).finally(() => void server.close());
  expect(metadata).toMatchObject({ attributes: { sockets: 1 } });
  expect((await test(archive, metadata)).attributes).toMatchObject({
    result: "passed",
    observed: { not_compared_kinds: `${ON_DISK}, 1 socket at the source, which no backup has` },
  });
});

it("a further name of a file that came back as a copy is noticed", async () => {
  const { metadata } = await dump(MEMBERS);
  const path = treeOf(MEMBERS.filter(({ name }) => name !== "./second"));
  writeFileSync(join(path, "second"), "x");
  const { archive } = await dumpTree(path, { contentKey: KEY });
  const { others } = await test(archive, metadata);
  expect(others).toContain("inferred:manifest failed");
});

it.each([
  ["a time", { mtime: "12e9" }],
  ["a time", { mtime: "1.1234567890" }],
  ["a time", { mtime: "9".repeat(19) }],
  ["an owner", { uid: "-1" }],
  ["an ACL", { "SCHILY.xattr.system.posix_acl_access": "\x02\0\0\0\x01\0" }],
])("an archive with %s as no tar writes it is refused: %j", async (_what, pax) => {
  const nothing = { entry() {}, content() {}, hole() {}, entryEnd() {} };
  const reader = new TarReader(nothing);
  await expect(reader.push(archiveOf([{ ...ROOT, pax }]))).rejects.toThrow(MalformedArchive);
});
