import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { UserError } from "../../platform/errors/user-error.ts";
import { readContents, SUMS, Sums } from "./contents.ts";
import { readTar, type TarEntry, writeTar } from "./tar.ts";

async function* of<T>(...items: T[]): AsyncGenerator<T, void, undefined> {
  for (const item of items) yield await Promise.resolve(item);
}

async function tarOf(entries: TarEntry[]): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of writeTar(of(...entries), new Date("2026-11-24T03:00:00Z"))) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function read(bytes: Buffer, cut = bytes.length): Promise<TarEntry[]> {
  const entries: TarEntry[] = [];
  for await (const entry of readTar(of(bytes.subarray(0, cut), bytes.subarray(cut)))) entries.push(entry);
  return entries;
}

const MANIFEST = {
  format: "attestore-service-backup-1",
  created_at: "2026-11-24T03:00:00.000Z",
  service: "0.1.0",
  postgresql: "18.4",
  pg_dump: "18.6",
  migration: 62,
  log_host: "log.test",
  log_key: "AAAA",
  logs: { logs: 1, entries: 2, sha256: "00" },
};
const ENTRIES: TarEntry[] = [
  { name: "backup.json", content: Buffer.from(JSON.stringify(MANIFEST)) },
  { name: "keys/sealing.key", content: Buffer.from("secret\n") },
  { name: "database.dump.000001", content: Buffer.alloc(1000, 7) },
  { name: "database.dump.000002", content: Buffer.alloc(512, 8) },
];

function withSums(entries: TarEntry[]): TarEntry[] {
  const sums = new Sums();
  for (const entry of entries) sums.add(entry);
  return [...entries, { name: SUMS, content: Buffer.from(sums.text()) }];
}

const contents = async (entries: TarEntry[]): Promise<unknown> =>
  readContents(of(await tarOf(entries)), () => Promise.resolve());

test("an archive is read as it was written, wherever its bytes are cut, and tar reads it too", async () => {
  const bytes = await tarOf(ENTRIES);
  for (const cut of [0, 1, 511, 512, 700, bytes.length]) expect(await read(bytes, cut)).toEqual(ENTRIES);
  const listed = execFileSync("tar", ["--list", "--file=-"], { input: bytes, encoding: "utf8" });
  expect(listed.trim().split("\n")).toEqual(ENTRIES.map(({ name }) => name));
});

test("an archive has the bytes that earlier versions wrote, so theirs are read too", async () => {
  const bytes = await tarOf([
    { name: "backup.json", content: Buffer.from("{}\n") },
    { name: "keys/sealing.key", content: Buffer.from("secret\n") },
    { name: "database.dump.000001", content: Buffer.alloc(1000, 7) },
  ]);
  expect(createHash("sha256").update(bytes).digest("hex")).toBe(
    "1a33d48f0799c76a1024b3e95a332b91959ca94795c0c9243126268ae32cdb89",
  );
});

test("an archive that is cut or changed anywhere is refused, or holds the same", async () => {
  const bytes = await tarOf(withSums(ENTRIES));
  const whole = await read(bytes);
  await fc.assert(
    fc.asyncProperty(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), async (at, flip) => {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ flip;
      await expect(
        readContents(of(changed), () => Promise.resolve()).then(
          () => read(changed),
          (error: unknown) => {
            expect(error).toBeInstanceOf(UserError);
            return whole;
          },
        ),
      ).resolves.toEqual(whole);
      await expect(read(bytes.subarray(0, at))).rejects.toBeInstanceOf(UserError);
    }),
    { numRuns: 300 },
  );
});

test("bytes that nobody wrote as an archive are refused in words", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 0, maxLength: 3000 }), async (bytes) => {
      await expect(read(Buffer.concat([Buffer.from("x"), bytes]))).rejects.toBeInstanceOf(UserError);
    }),
    { numRuns: 100 },
  );
});

test("a backup has all its parts, in order, and nothing else", async () => {
  expect(await contents(withSums(ENTRIES))).toEqual(MANIFEST);
  const [manifest, key, first, second] = ENTRIES as [TarEntry, TarEntry, TarEntry, TarEntry];
  const refused: [string, TarEntry[]][] = [
    ["no sums", ENTRIES],
    ["a wrong sum", [...ENTRIES, { name: SUMS, content: Buffer.from("0") }]],
    ["no manifest", withSums([key, first])],
    ["no dump", withSums([manifest, key])],
    ["a missing piece", withSums([manifest, second])],
    ["pieces in another order", withSums([manifest, second, first])],
    ["a key after the dump", withSums([manifest, first, key])],
    ["another file", withSums([manifest, { name: "keys/authorized_keys", content: first.content }, first])],
    ["something after the sums", [...withSums([manifest, first]), key]],
    ["another format", withSums([{ ...manifest, content: Buffer.from('{"format":"x"}') }, first])],
  ];
  for (const [what, entries] of refused)
    await expect(contents(entries), what).rejects.toBeInstanceOf(UserError);
});

test.each(["../keys/x.key", "/etc/passwd", "keys/../../x", ".hidden", "a/b/c", ""])(
  "an entry called %j is neither written nor read",
  async (name) => {
    await expect(tarOf([{ name, content: Buffer.alloc(1) }])).rejects.toThrow();
    // The same name in a header whose checksum is right.
    const bytes = await tarOf([{ name: "x".repeat(20), content: Buffer.alloc(1) }]);
    bytes.fill(0, 0, 100).write(name, 0, "latin1");
    bytes.write("        ", 148, "latin1");
    const sum = bytes.subarray(0, 512).reduce((total, byte) => total + byte, 0);
    bytes.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
    await expect(read(bytes)).rejects.toBeInstanceOf(UserError);
  },
);
