import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RunError } from "../../errors/run-error.ts";
import { DEFAULT_LIMITS } from "../../config/source-limits.ts";
import { RestoreRefused } from "../engine.ts";
import { archiveOf, header, type Member, ROOT } from "../../../test/files/archive.ts";
import { dumpTree, makePlace, restoreTree, sourceOf } from "../../../test/files/round-trip.ts";
import { ArchiveManifest } from "./dump/archive-manifest.ts";
import { MalformedArchive } from "./tar/tar-header.ts";
import { TarReader } from "./tar/tar-reader.ts";

/**
 * Archives by somebody who has our public key but not our data. They encrypt them to us and call
 * them a backup.
 */
let place: ReturnType<typeof makePlace>;
let scratch: string;
let victim: string;

beforeEach(() => {
  place = makePlace();
  scratch = join(place.path, "scratch");
  victim = join(place.path, "victim");
  mkdirSync(victim, { mode: 0o777 });
  writeFileSync(join(victim, "file"), "untouched", { mode: 0o666 });
});
afterEach(() => {
  expect(readdirSync(victim)).toEqual(["file"]);
  expect(readFileSync(join(victim, "file"), "utf8")).toBe("untouched");
  expect(existsSync(scratch) ? readdirSync(scratch) : []).toEqual([]);
  place.remove();
});

const restore = (archive: Buffer): Promise<unknown> =>
  restoreTree(archive, scratch, (restored) => Promise.resolve(restored));

const DIRECTORY = { type: "5", mode: 0o755 };
const EVIL = "evil";

/**
 * `VICTIM` stands for the absolute path of the victim, and `UP` for its path relative to the tree's
 * root.
 */
const hostile: [string, Member[]][] = [
  ["an absolute name", [ROOT, { name: "VICTIM/file", content: EVIL }]],
  ["an absolute name in a pax header", [ROOT, { name: "./x", pax: { path: "VICTIM/file" }, content: EVIL }]],
  ["a name with ..", [ROOT, { name: "./UP/file", content: EVIL }]],
  ["a name that is ..", [ROOT, { name: "./..", content: EVIL }]],
  ["a directory that is ..", [ROOT, { name: "./../", ...DIRECTORY }]],
  ["a name with .. within", [ROOT, { name: "./a/", ...DIRECTORY }, { name: "./a/../b", content: EVIL }]],
  ["a name with .. in a pax header", [ROOT, { name: "./x", pax: { path: "./UP/file" }, content: EVIL }]],
  [
    "a sparse file's name with ..",
    [
      ROOT,
      {
        name: "./x",
        pax: {
          "GNU.sparse.major": "1",
          "GNU.sparse.minor": "0",
          "GNU.sparse.name": "./UP/file",
          "GNU.sparse.realsize": "4",
        },
        content: "1\n0\n4\n".padEnd(512, "\0") + EVIL,
      },
    ],
  ],
  [
    "a file below a link to a directory elsewhere",
    [ROOT, { name: "./link", type: "2", linkName: "VICTIM" }, { name: "./link/file", content: EVIL }],
  ],
  [
    "a file below a link in a pax header",
    [
      ROOT,
      { name: "./link", type: "2", pax: { linkpath: "VICTIM" } },
      { name: "./link/file", content: EVIL },
    ],
  ],
  [
    "a file below a link that leads up",
    [ROOT, { name: "./link", type: "2", linkName: "UP" }, { name: "./link/file", content: EVIL }],
  ],
  [
    "a file in place of a link",
    [ROOT, { name: "./link", type: "2", linkName: "VICTIM/file" }, { name: "./link", content: EVIL }],
  ],
  [
    "a directory in place of a link, and a file in it",
    [
      ROOT,
      { name: "./link", type: "2", linkName: "VICTIM" },
      { name: "./link/", ...DIRECTORY },
      { name: "./link/file", content: EVIL },
    ],
  ],
  [
    "a link in place of a directory",
    [
      ROOT,
      { name: "./d/", ...DIRECTORY },
      { name: "./d", type: "2", linkName: "VICTIM" },
      { name: "./d/file", content: EVIL },
    ],
  ],
  ["a hard link to an absolute name", [ROOT, { name: "./hard", type: "1", linkName: "VICTIM/file" }]],
  ["a hard link that leads up", [ROOT, { name: "./hard", type: "1", linkName: "./UP/file" }]],
  [
    "a hard link out of it, and content for it",
    [ROOT, { name: "./hard", type: "1", linkName: "VICTIM/file" }, { name: "./hard", content: EVIL }],
  ],
  ["a hard link with content", [ROOT, { name: "./hard", type: "1", linkName: "./x", content: EVIL }]],
  ["a name twice", [ROOT, { name: "./x" }, { name: "./x", content: EVIL }]],
  ["names out of order", [ROOT, { name: "./b" }, { name: "./a" }]],
  ["no root", [{ name: "./x" }]],
  ["a link for a root", [{ name: "./", type: "2", linkName: "VICTIM" }]],
  ["an empty part of a name", [ROOT, { name: ".//x" }]],
  ["an old contiguous file", [ROOT, { name: "./x", type: "7", content: EVIL }]],
  ["GNU tar's own long names", [ROOT, { name: "././@LongLink", type: "L", content: "VICTIM/file\0" }]],
  ["GNU tar's own long links", [ROOT, { name: "././@LongLink", type: "K", content: "VICTIM/file\0" }]],
  ["a volume's header", [ROOT, { name: "volume", type: "V" }]],
  ["the rest of another volume's file", [ROOT, { name: "./x", type: "M", content: EVIL }]],
  ["a global pax header", [{ name: "./g", type: "g", content: "20 path=VICTIM/file\n" }, ROOT]],
  ["an owner's name, which tar prefers to the number", [ROOT, { name: "./x", pax: { uname: "root" } }]],
  ["a group's name", [ROOT, { name: "./x", pax: { gname: "root" } }]],
  ["a record that no backup has", [ROOT, { name: "./x", pax: { "RHT.security.selinux": "x" } }]],
  ["a sparse file of an older format", [ROOT, { name: "./x", pax: { "GNU.sparse.map": "0,4" } }]],
];

function aimed(member: Member): Member {
  const aim = (text: string): string => text.replaceAll("VICTIM", victim).replaceAll("UP", "../../../victim");
  const pax = Object.entries(member.pax ?? {}).map(([keyword, value]) => [keyword, aim(value)] as const);
  return {
    ...member,
    name: aim(member.name),
    linkName: aim(member.linkName ?? ""),
    ...(pax.length === 0 ? {} : { pax: Object.fromEntries(pax) }),
  };
}

describe("an archive is refused that has", () => {
  it.each(hostile)("%s", async (_name, members) => {
    await expect(restore(archiveOf(members.map(aimed)))).rejects.toThrow(RestoreRefused);
  });

  it.each<[string, Buffer]>([
    ["nothing in it", Buffer.alloc(0)],
    ["no end", archiveOf([ROOT, { name: "./x" }], Buffer.alloc(0))],
    ["half an end", archiveOf([ROOT, { name: "./x" }], Buffer.alloc(512))],
    ["something after its end", Buffer.concat([archiveOf([ROOT]), archiveOf([ROOT])])],
    ["half a block after its end", archiveOf([ROOT], Buffer.alloc(1024 + 100))],
    ["a header that is cut off", archiveOf([ROOT], Buffer.alloc(100))],
    [
      "a file that is cut off",
      archiveOf([ROOT, { name: "./x", content: EVIL, size: 5000 }], Buffer.alloc(0)),
    ],
    ["an impossible size", archiveOf([ROOT, { name: "./x", pax: { size: "99999999999999999999" } }])],
    ["a pax header for nothing", archiveOf([ROOT, { name: "./x", type: "x", content: "9 a=bcde\n" }])],
    [
      "a pax record of a wrong length",
      archiveOf([ROOT, { name: "./x", type: "x", content: "99 a=bcde\n" }, ROOT]),
    ],
    ["noise", Buffer.from("x".repeat(2048))],
  ])("%s", async (_name, archive) => {
    await expect(restore(archive)).rejects.toThrow(RestoreRefused);
  });

  it("a wrong checksum, where tar would look for the next header in what is content to others", async () => {
    const wrapper = header({ name: "./x", type: "0", linkName: "", mode: 0o644, size: 512 });
    wrapper[148] = 0x37;
    const inner = header({ name: `${victim}/file`, type: "0", linkName: "", mode: 0o644, size: 0 });
    const archive = Buffer.concat([archiveOf([ROOT], Buffer.alloc(0)), wrapper, inner, Buffer.alloc(1024)]);
    await expect(restore(archive)).rejects.toThrow(/checksum/);
  });

  it("an owner's name in a header", async () => {
    const named = header({ name: "./x", type: "0", linkName: "", mode: 0o644, size: 0, owner: "root" });
    const archive = Buffer.concat([archiveOf([ROOT], Buffer.alloc(0)), named, Buffer.alloc(1024)]);
    await expect(restore(archive)).rejects.toThrow(/an owner has a name/);
  });

  it("a hard link to a missing name, which tar itself finds and reports without the name", async () => {
    const error = await restore(archiveOf([ROOT, { name: "./hard", type: "1", linkName: "./secret" }])).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(RestoreRefused);
    expect(error).toMatchObject({
      message: "tar ended with exit code 2: Cannot hard link to: No such file or directory",
    });
  });

  it("any byte of a header changed to an invalid one", async () => {
    const good = archiveOf([ROOT, { name: "./x", content: EVIL }]);
    await restore(good);
    for (const at of [512, 512 + 100, 512 + 124, 512 + 148, 512 + 156, 512 + 257, 512 + 263]) {
      const bad = Buffer.from(good);
      bad[at] = (bad[at] ?? 0) ^ 0x40;
      await expect(restore(bad)).rejects.toThrow(RestoreRefused);
    }
  });
});

/**
 * This is how tar is called when an archive gets past our checks, and how people restore. afterEach
 * sees that it writes nothing outside.
 */
describe("GNU tar by itself keeps within the tree, given", () => {
  it.each(hostile)("%s", (_name, members) => {
    const tree = join(place.path, "a", "b");
    mkdirSync(tree, { recursive: true });
    const { status } = spawnSync("tar", ["-xpf", "-"], {
      cwd: tree,
      input: archiveOf(members.map(aimed)),
    });
    expect(status).not.toBeNull();
  });
});

it("a refused archive is read to its end, which may show that it is damaged", async () => {
  const archive = archiveOf([ROOT, { name: "/etc/x" }]);
  const damaged = async function* (): AsyncGenerator<Buffer, void, undefined> {
    yield archive;
    yield archive;
    throw new Error("not authentic");
  };
  const { files } = await import("./index.ts");
  const sandbox = await files.findSandbox({}, sourceOf(""));
  const { signal } = new AbortController();
  await expect(sandbox.restore(damaged(), { scratchDir: scratch, signal })).rejects.toThrow("not authentic");
});

it("a restore makes no devices: its sandbox is said to lack them, and the backup is not failed for it", async () => {
  for (const type of ["3", "4"]) {
    const error = await restore(archiveOf([ROOT, { name: "./null", type }])).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(RunError);
    expect(error).toMatchObject({ code: "sandbox_lacks" });
  }
});

it("links that lead outside are restored as links, and files with special modes give nobody else access", async () => {
  const archive = archiveOf([
    ROOT,
    { name: "./out", type: "2", linkName: victim },
    { name: "./suid", content: "#!/bin/sh\nid -u\n", mode: 0o4755 },
    { name: "./up", type: "2", linkName: "../../../victim/file" },
  ]);
  await restoreTree(archive, scratch, async (restored, tree) => {
    const list = execFileSync("stat", ["-c", "%F %A %N", "out", "suid", "up"], {
      cwd: tree,
      encoding: "utf8",
    });
    expect(list.split("\n")).toEqual([
      `symbolic link lrwxrwxrwx 'out' -> '${victim}'`,
      "regular file -rwsr-xr-x 'suid'",
      "symbolic link lrwxrwxrwx 'up' -> '../../../victim/file'",
      "",
    ]);
    const owner = Number(execFileSync("stat", ["-c", "%u", "suid"], { cwd: tree, encoding: "utf8" }));
    const parent = execFileSync("stat", ["-c", "%u %a", join(tree, "../..")], { encoding: "utf8" }).trim();
    expect(parent).toBe(`${process.getuid?.()} 700`);
    expect(owner === 0).toBe(false);
    const row = await restored.query(".", { timeout_s: 9, signal: new AbortController().signal });
    expect(row).toMatchObject({ kind: "rows", rows: [expect.stringContaining('"files":3,"directories":1')] });
  });
});

describe("the reader of archives", () => {
  const read = async (bytes: Buffer, sizes: readonly number[]): Promise<string> => {
    const manifest = new ArchiveManifest(DEFAULT_LIMITS, new AbortController().signal);
    const reader = new TarReader(manifest);
    for (let at = 0, turn = 0; at < bytes.length; turn++) {
      const size = sizes[turn % sizes.length] ?? 1;
      await reader.push(bytes.subarray(at, at + size));
      at += size;
    }
    reader.end();
    return manifest.finish().sha256;
  };

  it("sees the same however the bytes come", async () => {
    const tree = join(place.path, "tree");
    mkdirSync(join(tree, "d"), { recursive: true });
    writeFileSync(join(tree, "d", "f"), "x".repeat(1000));
    writeFileSync(join(tree, Buffer.from("é".repeat(120)).toString()), "");
    execFileSync("truncate", ["-s", "100000", join(tree, "sparse")]);
    execFileSync("sh", ["-c", "printf x | dd of=sparse bs=1 seek=70000 conv=notrunc status=none"], {
      cwd: tree,
    });
    const { archive, metadata } = await dumpTree(tree);
    const sizes = fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(sizes, async (each) => {
        expect(await read(archive, each)).toBe(metadata["manifest_sha256"]);
      }),
      { numRuns: 100 },
    );
  });

  it("gives a typed error, whatever it reads", async () => {
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 2000 }),
      fc.constant(new Uint8Array(512)),
      fc.constantFrom(archiveOf([ROOT], Buffer.alloc(0)), archiveOf([{ name: "./x", content: EVIL }])),
      fc
        .record({
          name: fc.string({ maxLength: 120, unit: fc.constantFrom("a", "/", ".", "\0") }),
          type: fc.constantFrom("0", "1", "2", "5", "x", "S"),
          content: fc.string({ maxLength: 600, unit: fc.constantFrom("1", " ", "=", "\n", "a") }),
        })
        .map((member) => archiveOf([member], Buffer.alloc(0))),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 8 }), async (pieces) => {
        const error = await read(Buffer.concat(pieces), [700]).catch((thrown: unknown) => thrown);
        if (typeof error !== "string") expect(error).toBeInstanceOf(MalformedArchive);
      }),
      { numRuns: 500 },
    );
  });
});
