import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  closeSync,
  existsSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ALL_PASSED, dumpTree, inferred, makePlace, restoreTree } from "../../../test/files/round-trip.ts";
import type { Restored } from "../engine.ts";
import { seenIn } from "../../../test/runs/earlier-tests-in.ts";

let place: ReturnType<typeof makePlace>;
let source: string;
let scratch: string;

beforeEach(() => {
  place = makePlace();
  source = join(place.path, "source");
  scratch = join(place.path, "scratch");
  mkdirSync(source);
});
afterEach(() => {
  expect(existsSync(scratch) ? readdirSync(scratch) : []).toEqual([]);
  place.remove();
});

function inSource(name: string | Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${source}/`), Buffer.from(name)]);
}

function write(name: string | Buffer, content: string | Buffer = "content\n"): void {
  writeFileSync(inSource(name), content);
}

async function roundTrip(): Promise<string[]> {
  const key = Buffer.alloc(32, 7);
  const { archive, metadata } = await dumpTree(source, { contentKey: key });
  const { signal } = new AbortController();
  const test = async (restored: Restored): Promise<string[]> => {
    const results = await inferred(restored, metadata);
    const checks = await restored.compareContent?.({ metadata, key, budget_ms: 60_000, signal });
    expect(checks).toMatchObject([{ id: "inferred:attributes", result: "passed" }]);
    return results;
  };
  return restoreTree(archive, scratch, test, signal, metadata);
}

describe("a tree comes back as it was", () => {
  const trees: [string, () => void][] = [
    [
      "with odd names",
      () => {
        for (const name of [
          "a\nb",
          " ",
          "-rf",
          "--help",
          "$(id)",
          "*",
          "\\",
          '"',
          "'",
          ".hidden",
          "ü",
          "\x01",
        ])
          write(name);
        write(Buffer.from([0xff, 0xfe, 0x80]));
        mkdirSync(inSource(Buffer.from([0x64, 0xe9])));
        write(Buffer.from([0x64, 0xe9, 0x2f, 0xe9]));
      },
    ],
    [
      "with names that sort around the separator",
      () => {
        for (const name of ["a", "a.b", "a-b", "ab", "B", "Ä"]) mkdirSync(inSource(name));
        for (const name of ["a/z", "a.b/y", "a-b/x", "a b", "a!"]) write(name);
      },
    ],
    [
      "with names longer than a header holds",
      () => {
        const long = ["d".repeat(200), "e".repeat(255), "f".repeat(255)].join("/");
        mkdirSync(inSource(long), { recursive: true });
        write(`${long}/${"g".repeat(255)}`);
        symlinkSync("t".repeat(1000), inSource("link"));
        linkSync(inSource(`${long}/${"g".repeat(255)}`), inSource("z-hard"));
      },
    ],
    [
      "with links of all kinds",
      () => {
        write("file");
        linkSync(inSource("file"), inSource("hard"));
        mkdirSync(inSource("dir"));
        linkSync(inSource("file"), inSource("dir/hard"));
        symlinkSync("file", inSource("soft"));
        symlinkSync("/etc/passwd", inSource("absolute"));
        linkSync(inSource("absolute"), inSource("absolute-hard"));
        symlinkSync("../../../up", inSource("dir/up"));
        symlinkSync("nowhere", inSource("dangling"));
        symlinkSync(".", inSource("itself"));
        symlinkSync("dir", inSource("a-dir-link"));
      },
    ],
    [
      "with a file that has another name outside of it",
      () => {
        write("file");
        linkSync(inSource("file"), join(place.path, "outside"));
      },
    ],
    [
      "with directories that are empty and files of no bytes",
      () => {
        mkdirSync(inSource("empty/in/empty"), { recursive: true });
        write("none", "");
        write("empty/none", "");
      },
    ],
    [
      "with contents around the block size",
      () => {
        for (const size of [1, 511, 512, 513, 1023, 1024, 65_535, 65_536, 65_537, 1 << 20])
          write(`f${size}`, Buffer.alloc(size, size % 251));
        write("zeros", Buffer.alloc(100_000));
      },
    ],
    [
      "with modes that say no, and more",
      () => {
        mkdirSync(inSource("closed/inner"), { recursive: true });
        write("closed/inner/file");
        write("locked");
        write("suid");
        write("sgid");
        mkdirSync(inSource("sticky"));
        chmodSync(inSource("locked"), 0);
        chmodSync(inSource("suid"), 0o4755);
        chmodSync(inSource("sgid"), 0o2711);
        chmodSync(inSource("sticky"), 0o1777);
        chmodSync(inSource("closed/inner"), 0);
        chmodSync(inSource("closed"), 0o500);
        chmodSync(source, 0o2510);
      },
    ],
    ["with a pipe", () => void execFileSync("mkfifo", ["-m", "640", join(source, "pipe")])],
    [
      "with holes",
      () => {
        sparse("all-hole", 3_000_000, []);
        sparse("head", 3_000_000, [0]);
        sparse("tail", 3_000_000, [2_999_999]);
        sparse(
          "many",
          200 << 20,
          Array.from({ length: 300 }, (_, index) => index * 500_000 + 7),
        );
        sparse(`in/${"n".repeat(200)}`, 1 << 20, [500_000]);
      },
    ],
    [
      "with times before and after the usual",
      () => {
        write("old");
        write("new");
        utimesSync(inSource("old"), -1e9, -1e9);
        utimesSync(inSource("new"), 2 ** 34, 2 ** 34);
      },
    ],
  ];

  function sparse(name: string, size: number, offsets: readonly number[]): void {
    mkdirSync(join(source, name, ".."), { recursive: true });
    const file = openSync(join(source, name), "w");
    ftruncateSync(file, size);
    for (const offset of offsets) writeSync(file, "x", offset);
    closeSync(file);
  }

  it.each(trees)("%s", async (_name, plant) => {
    write("some-file");
    plant();
    expect(await roundTrip()).toEqual(ALL_PASSED);
  });

  it("with 2,000 small files", async () => {
    for (let directory = 0; directory < 20; directory++) {
      mkdirSync(join(source, `d${directory}`));
      for (let file = 0; file < 100; file++) write(`d${directory}/f${file}`, `${directory}/${file}`);
    }
    const { archive, metadata } = await dumpTree(source);
    expect(metadata).toMatchObject({ files: 2000, directories: 21 });
    await restoreTree(archive, scratch, async (restored) => {
      expect(await inferred(restored, metadata)).toEqual(ALL_PASSED);
    });
  });

  it("where a hole of 256 MiB takes hardly any room", async () => {
    sparse("hole", 1 << 28, [12_345]);
    const { archive, metadata } = await dumpTree(source);
    expect(archive.length).toBeLessThan(1 << 20);
    expect(metadata["bytes"]).toBe(1 << 28);
    await restoreTree(archive, scratch, async (restored, tree) => {
      expect(await inferred(restored, metadata)).toEqual(ALL_PASSED);
      const [blocks = ""] = execFileSync("du", ["-k", join(tree, "hole")], { encoding: "utf8" }).split("\t");
      expect(Number(blocks)).toBeLessThan(1024);
    });
  });
});

it("the engine files describes itself", async () => {
  write("file", "12345");
  mkdirSync(inSource("dir"));
  symlinkSync("file", inSource("link"));
  const { metadata } = await dumpTree(source);
  expect(metadata).toEqual({
    engine: "files",
    engine_version: expect.stringMatching(/^1\.\d+$/),
    dump_format: "tar",
    schema_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    manifest_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    files: 2,
    directories: 2,
    bytes: 5,
  });
});

it("a tree's manifest can be computed by anybody", async () => {
  chmodSync(source, 0o755);
  write("f", "hello");
  chmodSync(inSource("f"), 0o640);
  symlinkSync("to", inSource("l"));
  linkSync(inSource("f"), inSource("m"));
  const hello = createHash("sha256").update("hello").digest("hex");
  const manifest = `directory\0.\x00755\0file\0f\x00640\x005\0${hello}\0symlink\0l\0to\0hardlink\0m\0f\0`;
  const { metadata } = await dumpTree(source);
  expect(metadata["manifest_sha256"]).toBe(createHash("sha256").update(manifest).digest("hex"));
});

describe("a restored tree does not pass", () => {
  const manifestFailed = ["inferred:manifest failed", "inferred:files passed"];
  const bothFailed = ["inferred:manifest failed", "inferred:files failed"];
  const changes: [string, (tree: string) => void, string[]][] = [
    ["with one changed byte", (tree) => writeFileSync(join(tree, "dir/file"), "Content\n"), manifestFailed],
    ["with a shortened file", (tree) => truncateSync(join(tree, "dir/file"), 3), manifestFailed],
    ["with another mode", (tree) => chmodSync(join(tree, "dir/file"), 0o777), manifestFailed],
    ["with a directory's other mode", (tree) => chmodSync(join(tree, "dir"), 0o711), manifestFailed],
    ["without a file", (tree) => rmSync(join(tree, "dir/file")), bothFailed],
    ["with one more", (tree) => writeFileSync(join(tree, "more"), ""), bothFailed],
    [
      "without an empty directory",
      (tree) => rmSync(join(tree, "empty"), { recursive: true }),
      manifestFailed,
    ],
    [
      "with a link elsewhere",
      (tree) => {
        rmSync(join(tree, "link"));
        symlinkSync("elsewhere", join(tree, "link"));
      },
      manifestFailed,
    ],
    [
      "with a copy where a hard link was",
      (tree) => {
        rmSync(join(tree, "hard"));
        writeFileSync(join(tree, "hard"), "content\n");
      },
      manifestFailed,
    ],
    [
      "emptied",
      (tree) => {
        for (const name of readdirSync(tree)) rmSync(join(tree, name), { recursive: true });
      },
      bothFailed,
    ],
  ];
  it.each(changes)("%s", async (_name, change, expected) => {
    mkdirSync(inSource("dir"));
    mkdirSync(inSource("empty"));
    write("dir/file");
    linkSync(inSource("dir/file"), inSource("hard"));
    symlinkSync("dir", inSource("link"));
    const { archive, metadata } = await dumpTree(source);
    await restoreTree(archive, scratch, async (restored, tree) => {
      expect(await inferred(restored, metadata)).toEqual(ALL_PASSED);
      change(tree);
      expect(await inferred(restored, metadata)).toEqual(expected);
    });
  });

  it("if nothing was in it when it was backed up", async () => {
    mkdirSync(inSource("mount-point-without-its-mount"));
    expect(await roundTrip()).toEqual(["inferred:manifest passed", "inferred:files failed"]);
  });

  it.each([
    [{ files: 99, bytes: 5 }, "failed", " and files >= 50 and bytes >= 1"],
    [{ files: 5, bytes: 5 }, "failed", " and files >= 3 and bytes >= 1"],
    [{ files: 1, bytes: 1 << 20 }, "failed", " and files >= 1 and bytes >= 104858"],
    [{ files: 4, bytes: 32 }, "passed", " and files >= 2 and bytes >= 4"],
    [{ files: { number: "100" }, bytes: null }, "passed", ""],
  ] as const)(
    "if most of it is gone since a test last passed with %j: %s",
    async (observed, result, floor) => {
      for (const name of ["a", "b"]) write(name);
      const { archive, metadata } = await dumpTree(source);
      await restoreTree(archive, scratch, async (restored) => {
        const checks = await restored.inferredChecks({
          metadata,
          seen: seenIn([{ id: "inferred:files", observed }]),
          signal: new AbortController().signal,
        });
        expect(checks[1]).toMatchObject({ expectation: `files = 2 and files > 0${floor}`, result });
      });
    },
  );

  it.each([[{}], [{ manifest_sha256: "", files: 1 }], [{ manifest_sha256: null, files: "1" }]])(
    "against metadata that say %j",
    async (claims) => {
      write("file");
      const { archive } = await dumpTree(source);
      await restoreTree(archive, scratch, async (restored) => {
        const checks = await restored.inferredChecks({
          metadata: claims,
          seen: null,
          signal: new AbortController().signal,
        });
        expect(checks[0]).toMatchObject({ id: "inferred:manifest", result: "failed" });
      });
    },
  );
});

describe("a check's query", () => {
  const limits = { timeout_s: 60, signal: new AbortController().signal };

  it("reports a path and everything below it", async () => {
    mkdirSync(inSource("dir/sub"), { recursive: true });
    write("dir/sub/file", "12345");
    write("dir/other", "1");
    write("top", "12");
    utimesSync(inSource("dir/other"), 1_000_000_000, 1_000_000_000);
    utimesSync(inSource("dir/sub/file"), 1_234_567_890, 1_234_567_890);
    symlinkSync("..", inSource("dir/up"));
    const { archive } = await dumpTree(source);
    await restoreTree(archive, scratch, async (restored) => {
      const row = async (path: string): Promise<unknown> => {
        const outcome = await restored.query(path, limits);
        return outcome.kind === "rows" ? JSON.parse(outcome.rows[0] ?? "") : outcome;
      };
      expect(await row(".")).toMatchObject({ files: 4, directories: 3, bytes: 8, sha256: null });
      const dir = { files: 3, directories: 2, bytes: 6, newest: "2009-02-13T23:31:30.000Z", sha256: null };
      expect(await row("dir")).toEqual(dir);
      expect(await row("./dir/")).toEqual(dir);
      expect(await row("dir/other")).toEqual({
        files: 1,
        directories: 0,
        bytes: 1,
        newest: "2001-09-09T01:46:40.000Z",
        sha256: createHash("sha256").update("1").digest("hex"),
      });
      expect(await row("dir/up")).toMatchObject({ files: 1, directories: 0, bytes: 0, newest: null });
    });
  });

  it.each(["/etc/passwd", "..", "dir/../..", "absolute/passwd", "nowhere", "file/below", "", "a\0b", "a//b"])(
    "does not leave the tree, or find what is not there: %j",
    async (path) => {
      write("file");
      symlinkSync("/etc", inSource("absolute"));
      const { archive } = await dumpTree(source);
      await restoreTree(archive, scratch, async (restored) => {
        expect(await restored.query(path, limits)).toMatchObject({ kind: "error" });
      });
    },
  );

  it("is cut short by its time", async () => {
    for (let file = 0; file < 2_000; file++) write(`f${file}`);
    const { archive } = await dumpTree(source);
    await restoreTree(archive, scratch, async (restored) => {
      const outcome = await restored.query(".", { ...limits, timeout_s: 0.001 });
      expect(outcome).toEqual({ kind: "timeout", after_s: 0.001 });
    });
  });
});
