import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32, deflateRawSync } from "node:zlib";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { verifyPackFile } from "../src/pack/verify-pack-file.ts";
import { ZipError } from "../src/zip/zip-error.ts";
import { openFileSource } from "../src/zip/file-source.ts";
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
  localExtra?: Buffer;
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
    local.writeUInt16LE(part.localExtra?.length ?? 0, 28);
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
    out.push(local, Buffer.from(part.name, "latin1"), part.localExtra ?? Buffer.alloc(0));
    out.push(packed, part.after ?? Buffer.alloc(0));
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
  const reader = await ZipReader.open(await openFileSource(path));
  try {
    const files = new Map<string, Buffer>();
    for (const name of reader.paths()) files.set(name, Buffer.from(await reader.read(name, limit)));
    return files;
  } finally {
    await reader.close();
  }
}

const fuzzed: Part[] = [
  text("manifest.json"),
  text("folder/b.txt"),
  { name: "c", bytes: Buffer.from([1, 2, 3]) },
];
const two = [text("manifest.json"), text("folder/b.txt")];

test("the ZIP features that packs use are read", async () => {
  const files = await readAll(zipOf([...two, { name: "empty", bytes: Buffer.alloc(0) }]));
  expect([...files.keys()]).toEqual(["empty", "folder/b.txt", "manifest.json"]);
  expect(files.get("manifest.json")).toEqual(two[0]?.bytes);
});

const junk = Buffer.from("junk");
const empty64 = Buffer.from("01000000", "hex");

const asFolder = (header: Buffer): void => void header.writeUInt32LE(((0o40755 << 16) | 0x10) >>> 0, 38);
const folder = (name: string): Part => ({ name, bytes: Buffer.alloc(0), central: asFolder });
const windows = (name: string): Part => ({
  ...text(name),
  central: (header) => {
    header.writeUInt8(0, 5);
    header.writeUInt32LE(0x20, 38);
  },
});
/** As tools write to what cannot seek: zeros in front, CRC and sizes behind the bytes. */
function later(
  name: string,
  change: (descriptor: Buffer) => void = () => undefined,
  isMarked = true,
  width = 4,
): Part {
  const { bytes } = text(name);
  const descriptor = Buffer.alloc(8 + 2 * width);
  descriptor.writeUInt32LE(0x08074b50, 0);
  descriptor.writeUInt32LE(crc32(bytes), 4);
  descriptor.writeUInt32LE(deflateRawSync(bytes).length, 8);
  descriptor.writeUInt32LE(bytes.length, 8 + width);
  change(descriptor);
  return {
    ...text(name),
    local: (header) => {
      header.writeUInt16LE(8, 6);
      header.fill(0, 14, 26);
    },
    central: (header) => void header.writeUInt16LE(8, 8),
    after: isMarked ? descriptor : descriptor.subarray(4),
  };
}
/** Its size in a ZIP64 field of the directory. */
function wideSize(name: string, size = BigInt(text(name).bytes.length)): Part {
  const extra = Buffer.from("010008000000000000000000", "hex");
  extra.writeBigUInt64LE(size, 4);
  return { ...text(name), extra, central: (header) => void header.writeUInt32LE(0xffff_ffff, 24) };
}
const noted = Buffer.from(
  "5554050003e22d036b" + "75780b000104000000000400000000" + "0a00040000000000",
  "hex",
);

/** The ways in which tools write what a pack was unpacked to. */
const WAYS: [string, () => Buffer][] = [
  ["in another order in the directory", () => reordered(zipOf(two))],
  ["sizes behind the bytes", () => zipOf([later("manifest.json"), later("folder/b.txt")])],
  [
    "sizes behind the bytes, without a mark",
    () => zipOf([later("manifest.json", undefined, false), text("folder/b.txt")]),
  ],
  [
    "wide sizes behind the bytes",
    () => zipOf([later("manifest.json", undefined, true, 8), later("folder/b.txt", undefined, false, 8)]),
  ],
  ["a ZIP64 field", () => zipOf([wideSize("manifest.json"), text("folder/b.txt")])],
  [
    "times and owners",
    () => zipOf(two.map((part) => ({ ...part, extra: noted, localExtra: noted.subarray(9) }))),
  ],
  [
    "a name in UTF-8",
    () =>
      zipOf([both("manifest.json", (header, at) => header.writeUInt16LE(0x800, at)), text("folder/b.txt")]),
  ],
  [
    "other levels of deflating",
    () => zipOf([both("manifest.json", (header, at) => header.writeUInt16LE(6, at)), text("folder/b.txt")]),
  ],
  ["stored", () => zipOf(two.map((part) => ({ ...part, deflate: false })))],
  ["folders", () => zipOf([...two, folder("folder/")])],
  [
    "in a folder",
    () => zipOf([folder("x y (1)/"), ...two.map((part) => ({ ...part, name: `x y (1)/${part.name}` }))]),
  ],
  [
    "in this folder",
    () => zipOf([folder("./"), ...two.map((part) => ({ ...part, name: `./${part.name}` }))]),
  ],
  [
    "on Windows",
    () =>
      zipOf([windows("manifest.json"), { ...windows("folder\\b.txt"), bytes: text("folder/b.txt").bytes }]),
  ],
  [
    "with what macOS puts beside",
    () => zipOf([...two, text("__MACOSX/folder/._b.txt"), text("folder/.DS_Store"), text("._manifest.json")]),
  ],
];

test.each(WAYS)("read as well: %s", async (_what, bytes) => {
  const files = await readAll(bytes());
  expect([...files].toReversed()).toEqual(two.map(({ name, bytes: content }) => [name, content]));
});

/** The entries of the directory the other way round. */
function reordered(whole: Buffer): Buffer {
  const at = whole.readUInt32LE(whole.length - 6);
  const second = whole.indexOf("PK\u0001\u0002", at + 1, "latin1");
  const end = whole.length - 22;
  return Buffer.concat([
    whole.subarray(0, at),
    whole.subarray(second, end),
    whole.subarray(at, second),
    whole.subarray(end),
  ]);
}

const zip64 = Buffer.from("0100080000000000000000000000", "hex").subarray(0, 12);

describe("refused", () => {
  test.each<[string, () => Buffer]>([
    ["nothing", () => Buffer.alloc(0)],
    ["something else", () => Buffer.from("not a ZIP at all, but long enough to have an end record in it")],
    ["bytes before the first file", () => zipOf(two, { before: junk })],
    ["bytes between files", () => zipOf([{ ...text("manifest.json"), after: junk }, text("b.txt")])],
    ["bytes before the directory", () => zipOf(two, { beforeDirectory: junk })],
    ["bytes after the directory", () => zipOf(two, { beforeEnd: junk })],
    ["bytes after the end", () => zipOf(two, { after: junk })],
    ["a comment", () => zipOf(two, { end: (end) => end.writeUInt16LE(4, 20), after: junk })],
    [
      "a comment of a file",
      () => zipOf([{ ...text("manifest.json"), central: (header) => header.writeUInt16LE(1, 32) }]),
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
    ["the same file twice", () => zipOf([text("manifest.json"), text("manifest.json")])],
    ["the same file in other letters", () => zipOf([text("manifest.json"), text("Manifest.json")])],
    ["a file that is a folder too", () => zipOf([text("a"), text("a/b")])],
    ["a step upwards", () => zipOf([text("../manifest.json")])],
    ["a step upwards inside", () => zipOf([text("a/../../b.txt")])],
    ["an absolute path", () => zipOf([text("/etc/passwd")])],
    ["a path of Windows", () => zipOf([text("a\\b.txt")])],
    ["a drive", () => zipOf([text("C:manifest.json")])],
    ["a folder that is said to be a file", () => zipOf([...two, { name: "a/", bytes: Buffer.alloc(0) }])],
    ["a file that is said to be a folder", () => zipOf([...two, { ...text("c.txt"), central: asFolder }])],
    ["a folder with bytes", () => zipOf([...two, { ...folder("c/"), bytes: junk }])],
    ["a folder twice", () => zipOf([...two, folder("folder/"), folder("folder/")])],
    ["a folder that is a file too", () => zipOf([...two, folder("manifest.json/")])],
    ["a step upwards as a folder", () => zipOf([...two, folder("../")])],
    ["a step upwards for all", () => zipOf([text("../manifest.json"), text("../b.txt")])],
    ["a drive for all", () => zipOf([text("C:/manifest.json"), text("C:/b.txt")])],
    ["two folders deep", () => zipOf([text("a b/c d/manifest.json"), text("a b/c d/b.txt")])],
    [
      "a file beside the folder that all others lie in",
      () => zipOf([text("a b/manifest.json"), text("b.txt")]),
    ],
    ["the same file with both separators", () => zipOf([windows("a/b.txt"), windows("a\\b.txt")])],
    [
      "the same file as macOS' own",
      () => zipOf([...two, text("__MACOSX/._a"), { ...text("__MACOSX/._a"), after: junk }]),
    ],
    ["bytes behind macOS' own", () => zipOf([...two, { ...text("__MACOSX/._a"), after: junk }])],
    ["bytes behind a folder", () => zipOf([...two, { ...folder("c/"), after: junk }])],
    ["no name", () => zipOf([text("")])],
    ["a name with a zero byte", () => zipOf([text("a\0.txt")])],
    ["a name that is not ASCII", () => zipOf([text("\u00e9.txt")])],
    [
      "a name in front that is not the directory's",
      () => zipOf([{ ...text("manifest.json"), centralName: "b.txt" }]),
    ],
    [
      "a symbolic link",
      () =>
        zipOf([
          { ...text("manifest.json"), central: (header) => header.writeUInt32LE((0o120777 << 16) >>> 0, 38) },
        ]),
    ],
    ["an encrypted file", () => zipOf([flags(0x1)])],
    ["a patch", () => zipOf([flags(0x20)])],
    ["headers that are masked", () => zipOf([flags(0x2000)])],
    ["sizes that come later and do not come", () => zipOf([flags(0x8)])],
    [
      "sizes that come later and are others",
      () => zipOf([later("manifest.json", (d) => d.writeUInt32LE(7, 8))]),
    ],
    [
      "sizes that come later under another mark",
      () => zipOf([later("manifest.json", (d) => d.writeUInt32LE(7, 0))]),
    ],
    [
      "a CRC that comes later and is another",
      () => zipOf([later("manifest.json", (d) => d.writeUInt32LE(7, 4))]),
    ],
    [
      "more behind the sizes that come later",
      () => zipOf([{ ...later("manifest.json"), after: Buffer.alloc(17) }]),
    ],
    [
      "a flag in front only",
      () => zipOf([{ ...text("manifest.json"), local: (header) => header.writeUInt16LE(1, 6) }]),
    ],
    [
      "another method",
      () => zipOf([{ ...text("manifest.json"), central: (header) => header.writeUInt16LE(12, 10) }]),
    ],
    [
      "another size in front",
      () => zipOf([{ ...text("manifest.json"), local: (header) => header.writeUInt32LE(1, 22) }]),
    ],
    [
      "extra fields that are cut short",
      () => zipOf([{ ...text("manifest.json"), extra: Buffer.from("75750500", "hex") }]),
    ],
    [
      "extra fields cut short in front",
      () => zipOf([{ ...text("manifest.json"), localExtra: Buffer.from("757505", "hex") }]),
    ],
    [
      "another name in Unicode",
      () => zipOf([{ ...text("manifest.json"), extra: Buffer.from("757001000000", "hex").subarray(0, 5) }]),
    ],
    [
      "another name in Unicode in front",
      () => zipOf([{ ...text("manifest.json"), localExtra: Buffer.from("7570010001", "hex") }]),
    ],
    [
      "an encryption's field",
      () => zipOf([{ ...text("manifest.json"), extra: Buffer.from("0199000000", "hex").subarray(0, 4) }]),
    ],
    [
      "two ZIP64 fields",
      () => zipOf([{ ...text("manifest.json"), extra: Buffer.concat([empty64, empty64]) }]),
    ],
    [
      "a ZIP64 field that is not there",
      () => zipOf([{ ...text("manifest.json"), central: (header) => header.writeUInt32LE(0xffff_ffff, 24) }]),
    ],
    ["a size beyond what numbers hold", () => zipOf([wideSize("manifest.json", 2n ** 60n)])],
    ["another size in a ZIP64 field", () => zipOf([wideSize("manifest.json", 7n)])],
    ["a ZIP64 field that is not needed", () => zipOf([{ ...text("manifest.json"), extra: zip64 }])],
    [
      "files that overlap",
      () =>
        zipOf([
          text("manifest.json"),
          { ...text("b.txt"), central: (header) => header.writeUInt32LE(0, 42) },
        ]),
    ],
    ["a wrong CRC", () => zipOf([both("manifest.json", (header, at) => header.writeUInt32LE(7, at + 8))])],
    [
      "a stored file of two sizes",
      () => zipOf([both("manifest.json", (header, at) => header.writeUInt16LE(0, at + 2))]),
    ],
    [
      "more unpacked than said",
      () => zipOf([both("manifest.json", (header, at) => header.writeUInt32LE(10, at + 16))]),
    ],
    [
      "less unpacked than said",
      () => zipOf([both("manifest.json", (header, at) => header.writeUInt32LE(999, at + 16))]),
    ],
    [
      "something behind what was deflated",
      () =>
        zipOf([
          {
            ...text("manifest.json"),
            packed: Buffer.concat([deflateRawSync(text("manifest.json").bytes), junk]),
          },
        ]),
    ],
    [
      "what is no deflated data",
      () => zipOf([{ ...text("manifest.json"), packed: Buffer.from("ffffffffffff", "hex") }]),
    ],
  ])("%s", async (_what, bytes) => {
    await expect(readAll(bytes())).rejects.toThrow(ZipError);
  });

  test("a file above the allowed size, before it is unpacked", async () => {
    const bomb = zipOf([{ name: "bomb", bytes: Buffer.alloc(50_000_000), deflate: true }]);
    expect(bomb.length).toBeLessThan(100_000);
    await expect(readAll(bomb, 1_000_000)).rejects.toThrow(/more than 1000000 bytes/);
  });

  test("a file that unpacks to more than its stated size, without unpacking it all", async () => {
    const packed = deflateRawSync(Buffer.alloc(50_000_000));
    const liar = { ...both("bomb", (header, at) => header.writeUInt32LE(packed.length, at + 12)), packed };
    await expect(readAll(zipOf([liar]))).rejects.toThrow(/bomb/);
  });
});

test("a manifest larger than one of the files there are is not unpacked, let alone parsed", async () => {
  const manifest = Buffer.from(`[${"[],".repeat(3_000_000)}[]]`);
  writeFileSync(path, zipOf([text("b.txt"), { name: "manifest.json", bytes: manifest, deflate: true }]));
  const { verdict, checks } = await verifyPackFile(path, { logKey: undefined, keys: [] });
  expect(verdict).toBe("false");
  expect(checks.find(({ id }) => id === "manifest")?.detail).toMatch(
    /^manifest\.json has more than \d{4} bytes$/,
  );
});

test.each<[string, () => Buffer]>([
  ["as the service makes it", () => zipOf(fuzzed)],
  [
    "sizes behind the bytes",
    () => zipOf([later("manifest.json"), later("folder/b.txt", undefined, false, 8), fuzzed[2] ?? text("c")]),
  ],
  [
    "fields and folders",
    () =>
      zipOf([
        wideSize("manifest.json"),
        folder("folder/"),
        { ...text("folder/b.txt"), extra: noted, localExtra: noted },
      ]),
  ],
])(
  "whatever is changed, cut or put in (%s): what is read is what was written, or nothing is",
  async (_how, make) => {
    const parts = fuzzed;
    const whole = make();
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
      { numRuns: 300 },
    );
    expect(refused).toBeGreaterThan(100);
  },
);

/** The same change in both headers, at where the fields that they share begin. */
function both(name: string, change: (header: Buffer, at: number) => void): Part {
  return { ...text(name), local: (header) => change(header, 6), central: (header) => change(header, 8) };
}

function flags(value: number): Part {
  return both("manifest.json", (header, at) => header.writeUInt16LE(value, at));
}
