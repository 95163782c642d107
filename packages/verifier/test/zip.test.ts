import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32, deflateRawSync } from "node:zlib";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { verifyPack } from "../src/pack/verify-pack.ts";
import { ZipError } from "../src/zip/zip-error.ts";
import { ZipReader } from "../src/zip/zip-reader.ts";

const directory = mkdtempSync(join(tmpdir(), "attestore-zip-"));
const path = join(directory, "test.zip");
afterAll(() => {
  rmSync(directory, { recursive: true });
});

/** One file of a ZIP, with what a test wants to be otherwise. */
interface Part {
  name: string;
  bytes: Buffer;
  deflate?: boolean;
  /** Changes the local header, and then the directory's. */
  local?: (header: Buffer) => void;
  central?: (header: Buffer) => void;
  centralName?: string;
  extra?: Buffer;
  /** Bytes between this file and the next. */
  after?: Buffer;
  packed?: Buffer;
}

const text = (name: string, content = `this is ${name}\n`.repeat(20)): Part => ({
  name,
  bytes: Buffer.from(content),
  deflate: true,
});

interface Layout {
  before?: Buffer;
  beforeDirectory?: Buffer;
  beforeEnd?: Buffer;
  end?: (record: Buffer) => void;
  after?: Buffer;
}

function zipOf(parts: readonly Part[], layout: Layout = {}): Buffer {
  const out: Buffer[] = [layout.before ?? Buffer.alloc(0)];
  const directory: Buffer[] = [];
  const offset = (): number => out.reduce((sum, { length }) => sum + length, 0);
  for (const part of parts) {
    const packed = part.packed ?? (part.deflate ? deflateRawSync(part.bytes) : part.bytes);
    const common = Buffer.alloc(20);
    common.writeUInt16LE(part.deflate ? 8 : 0, 2);
    common.writeUInt32LE(crc32(part.bytes), 8);
    common.writeUInt32LE(packed.length, 12);
    common.writeUInt32LE(part.bytes.length, 16);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    common.copy(local, 6);
    local.writeUInt16LE(part.name.length, 26);
    part.local?.(local);
    const name = part.centralName ?? part.name;
    const central = Buffer.alloc(46);
    central.writeUInt32LE(0x02014b50, 0);
    central.writeUInt16LE(3 << 8, 4);
    common.copy(central, 8);
    central.writeUInt16LE(name.length, 28);
    central.writeUInt16LE(part.extra?.length ?? 0, 30);
    central.writeUInt32LE((0o100644 << 16) >>> 0, 38);
    central.writeUInt32LE(offset(), 42);
    part.central?.(central);
    directory.push(Buffer.concat([central, Buffer.from(name, "latin1"), part.extra ?? Buffer.alloc(0)]));
    out.push(local, Buffer.from(part.name, "latin1"), packed, part.after ?? Buffer.alloc(0));
  }
  out.push(layout.beforeDirectory ?? Buffer.alloc(0));
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(parts.length, 8);
  end.writeUInt16LE(parts.length, 10);
  end.writeUInt32LE(Buffer.concat(directory).length, 12);
  end.writeUInt32LE(offset(), 16);
  layout.end?.(end);
  out.push(...directory, layout.beforeEnd ?? Buffer.alloc(0), end, layout.after ?? Buffer.alloc(0));
  return Buffer.concat(out);
}

async function readAll(bytes: Buffer, limit = 1_000_000): Promise<Map<string, Buffer>> {
  writeFileSync(path, bytes);
  const reader = await ZipReader.open(path);
  try {
    const files = new Map<string, Buffer>();
    for (const name of reader.paths()) files.set(name, await reader.read(name, limit));
    return files;
  } finally {
    await reader.close();
  }
}

const two = [text("a.txt"), text("folder/b.txt")];

test("what packs are made of is read", async () => {
  const files = await readAll(zipOf([...two, { name: "empty", bytes: Buffer.alloc(0) }]));
  expect([...files.keys()]).toEqual(["a.txt", "folder/b.txt", "empty"]);
  expect(files.get("a.txt")).toEqual(two[0]?.bytes);
});

const junk = Buffer.from("junk");
const zip64 = Buffer.from("0100080000000000000000000000", "hex").subarray(0, 12);

describe("refused", () => {
  test.each<[string, () => Buffer]>([
    ["nothing", () => Buffer.alloc(0)],
    ["something else", () => Buffer.from("not a ZIP at all, but long enough to have an end record in it")],
    ["bytes before the first file", () => zipOf(two, { before: junk })],
    ["bytes between files", () => zipOf([{ ...text("a.txt"), after: junk }, text("b.txt")])],
    ["bytes before the directory", () => zipOf(two, { beforeDirectory: junk })],
    ["bytes after the directory", () => zipOf(two, { beforeEnd: junk })],
    ["bytes after the end", () => zipOf(two, { after: junk })],
    ["a comment", () => zipOf(two, { end: (end) => end.writeUInt16LE(4, 20), after: junk })],
    [
      "a comment of a file",
      () => zipOf([{ ...text("a.txt"), central: (header) => header.writeUInt16LE(1, 32) }]),
    ],
    [
      "fewer files than said",
      () => zipOf(two, { end: (end) => [8, 10].forEach((at) => end.writeUInt16LE(3, at)) }),
    ],
    [
      "more files than said",
      () => zipOf(two, { end: (end) => [8, 10].forEach((at) => end.writeUInt16LE(1, at)) }),
    ],
    ["another disk", () => zipOf(two, { end: (end) => end.writeUInt16LE(1, 4) })],
    [
      "ZIP64 records that are not there",
      () => zipOf(two, { end: (end) => end.writeUInt32LE(0xffff_ffff, 16) }),
    ],
    ["the same file twice", () => zipOf([text("a.txt"), text("a.txt")])],
    ["the same file in other letters", () => zipOf([text("a.txt"), text("A.txt")])],
    ["a file that is a folder too", () => zipOf([text("a"), text("a/b")])],
    ["a step upwards", () => zipOf([text("../a.txt")])],
    ["a step upwards inside", () => zipOf([text("a/../../b.txt")])],
    ["an absolute path", () => zipOf([text("/etc/passwd")])],
    ["a path of Windows", () => zipOf([text("a\\b.txt")])],
    ["a drive", () => zipOf([text("C:a.txt")])],
    ["a folder", () => zipOf([{ name: "a/", bytes: Buffer.alloc(0) }])],
    ["no name", () => zipOf([text("")])],
    ["a name with a zero byte", () => zipOf([text("a\0.txt")])],
    ["a name that is not ASCII", () => zipOf([text("\u00e9.txt")])],
    [
      "a name in front that is not the directory's",
      () => zipOf([{ ...text("a.txt"), centralName: "b.txt" }]),
    ],
    [
      "a symbolic link",
      () =>
        zipOf([{ ...text("a.txt"), central: (header) => header.writeUInt32LE((0o120777 << 16) >>> 0, 38) }]),
    ],
    ["an encrypted file", () => zipOf([flags(0x1)])],
    ["sizes that come later", () => zipOf([flags(0x8)])],
    ["a name in UTF-8", () => zipOf([flags(0x800)])],
    [
      "a flag in front only",
      () => zipOf([{ ...text("a.txt"), local: (header) => header.writeUInt16LE(1, 6) }]),
    ],
    [
      "another method",
      () => zipOf([{ ...text("a.txt"), central: (header) => header.writeUInt16LE(12, 10) }]),
    ],
    [
      "another size in front",
      () => zipOf([{ ...text("a.txt"), local: (header) => header.writeUInt32LE(1, 22) }]),
    ],
    ["an extra field", () => zipOf([{ ...text("a.txt"), extra: Buffer.from("7575040001020304", "hex") }])],
    ["a ZIP64 field that is not needed", () => zipOf([{ ...text("a.txt"), extra: zip64 }])],
    [
      "files that overlap",
      () => zipOf([text("a.txt"), { ...text("b.txt"), central: (header) => header.writeUInt32LE(0, 42) }]),
    ],
    ["a wrong CRC", () => zipOf([both("a.txt", (header, at) => header.writeUInt32LE(7, at + 8))])],
    [
      "a stored file of two sizes",
      () => zipOf([both("a.txt", (header, at) => header.writeUInt16LE(0, at + 2))]),
    ],
    [
      "more unpacked than said",
      () => zipOf([both("a.txt", (header, at) => header.writeUInt32LE(10, at + 16))]),
    ],
    [
      "less unpacked than said",
      () => zipOf([both("a.txt", (header, at) => header.writeUInt32LE(999, at + 16))]),
    ],
    [
      "something behind what was deflated",
      () => zipOf([{ ...text("a.txt"), packed: Buffer.concat([deflateRawSync(text("a.txt").bytes), junk]) }]),
    ],
    [
      "what is no deflated data",
      () => zipOf([{ ...text("a.txt"), packed: Buffer.from("ffffffffffff", "hex") }]),
    ],
  ])("%s", async (_what, bytes) => {
    await expect(readAll(bytes())).rejects.toThrow(ZipError);
  });

  test("what would be larger than allowed, before it is unpacked", async () => {
    const bomb = zipOf([{ name: "bomb", bytes: Buffer.alloc(50_000_000), deflate: true }]);
    expect(bomb.length).toBeLessThan(100_000);
    await expect(readAll(bomb, 1_000_000)).rejects.toThrow(/more than 1000000 bytes/);
  });

  test("what unpacks to more than it says, without unpacking it", async () => {
    const packed = deflateRawSync(Buffer.alloc(50_000_000));
    const liar = { ...both("bomb", (header, at) => header.writeUInt32LE(packed.length, at + 12)), packed };
    await expect(readAll(zipOf([liar]))).rejects.toThrow(/bomb/);
  });
});

test("a manifest larger than one of the files there are is not unpacked, let alone parsed", async () => {
  const manifest = Buffer.from(`[${"[],".repeat(3_000_000)}[]]`);
  writeFileSync(path, zipOf([text("a.txt"), { name: "manifest.json", bytes: manifest, deflate: true }]));
  const { verdict, checks } = await verifyPack(path, { logKey: undefined, keys: [] });
  expect(verdict).toBe("false");
  expect(checks.find(({ id }) => id === "manifest")?.detail).toMatch(
    /^manifest\.json has more than \d{4} bytes$/,
  );
});

test("whatever is changed, cut or put in: what is read is what was written, or nothing is", async () => {
  const parts = [...two, { name: "c", bytes: Buffer.from([1, 2, 3]) }];
  const whole = zipOf(parts);
  const change = fc.oneof(
    fc.record({ at: fc.nat(whole.length - 1), byte: fc.integer({ min: 0, max: 255 }) }),
    fc.record({ at: fc.nat(whole.length - 1), cut: fc.integer({ min: 1, max: 40 }) }),
    fc.record({ at: fc.nat(whole.length), put: fc.uint8Array({ minLength: 1, maxLength: 40 }) }),
  );
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
      let bytes = Buffer.from(whole);
      for (const each of changes) {
        const [head, tail] = [bytes.subarray(0, each.at), bytes.subarray(each.at)];
        if ("byte" in each) bytes = Buffer.concat([head, Buffer.from([each.byte]), tail.subarray(1)]);
        else if ("cut" in each) bytes = Buffer.concat([head, tail.subarray(each.cut)]);
        else bytes = Buffer.concat([head, each.put, tail]);
      }
      try {
        for (const [name, content] of await readAll(bytes)) {
          const written = parts.find((part) => part.bytes.equals(content));
          expect(written, name).toBeDefined();
        }
      } catch (error) {
        expect(error).toBeInstanceOf(ZipError);
        refused += 1;
      }
    }),
    { numRuns: 400 },
  );
  expect(refused).toBeGreaterThan(200);
});

/** The same change in both headers, at where the fields that they share begin. */
function both(name: string, change: (header: Buffer, at: number) => void): Part {
  return { ...text(name), local: (header) => change(header, 6), central: (header) => change(header, 8) };
}

function flags(value: number): Part {
  return both("a.txt", (header, at) => header.writeUInt16LE(value, at));
}
