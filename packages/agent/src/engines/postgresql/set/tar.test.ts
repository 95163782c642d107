import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tarEnd, tarHeader, tarPadding } from "@attestore/host/tar";
import fc from "fast-check";
import { expect, test } from "vitest";
import { collect, inPieces } from "../../../../test/pieces.ts";
import { parseEntryName } from "./names.ts";
import { MalformedSet, tarEntries } from "./tar.ts";

interface Read {
  readonly name: string;
  readonly content: string;
}

const archive = (entries: readonly Read[]): Buffer =>
  Buffer.concat([
    ...entries.flatMap(({ name, content }) => [
      tarHeader(name, content.length),
      Buffer.from(content),
      tarPadding(content.length),
    ]),
    tarEnd(),
  ]);

async function read(bytes: Buffer, size = 1000): Promise<Read[]> {
  const entries: Read[] = [];
  for await (const { name, content } of tarEntries(inPieces(bytes, size))) {
    entries.push({ name, content: (await collect(content)).toString() });
  }
  return entries;
}

const ENTRIES = [
  { name: "globals.sql", content: "create role a;\n" },
  { name: "001-orders/dump.000000", content: "x".repeat(1024) },
  { name: "002-b/toc.dat", content: "" },
];

test("a written archive is read back, in pieces of any size", async () => {
  for (const size of [1, 7, 512, 100_000]) expect(await read(archive(ENTRIES), size)).toEqual(ENTRIES);
});

test("GNU tar reads it, sizes of 8 GiB and more too", () => {
  const directory = mkdtempSync(join(tmpdir(), "set-"));
  try {
    const path = join(directory, "set.tar");
    writeFileSync(path, archive(ENTRIES));
    execFileSync("tar", ["-xf", path, "-C", directory]);
    expect(readFileSync(join(directory, "globals.sql"), "utf8")).toBe(ENTRIES[0]?.content);
    expect(readFileSync(join(directory, "001-orders/dump.000000"), "utf8")).toBe(ENTRIES[1]?.content);
    // A header alone is an archive that ends early. tar says so after it has listed it.
    const { stdout } = spawnSync("tar", ["-tvf", "-"], {
      input: tarHeader("a", 2 ** 40 + 5),
      encoding: "utf8",
    });
    expect(stdout).toContain(String(2 ** 40 + 5));
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("any changed byte of a header, any cut and anything after the end is refused, or changes the entries that are read", async () => {
  const whole = archive(ENTRIES);
  await fc.assert(
    fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), async (at, flip) => {
      const changed = Buffer.from(whole);
      changed[at] = (changed[at] ?? 0) ^ flip;
      const result: unknown = await read(changed).catch((error: unknown) => error);
      if (result instanceof MalformedSet) return;
      // pg_restore judges what is between the headers.
      expect(result).toHaveLength(ENTRIES.length);
    }),
  );
  for (let length = 0; length < whole.length; length += 100)
    await expect(read(whole.subarray(0, length))).rejects.toThrow(MalformedSet);
  await expect(read(Buffer.concat([whole, Buffer.alloc(1)]))).rejects.toThrow(MalformedSet);
});

test("only names that a set of databases may have become paths", () => {
  expect(parseEntryName("012-Or_ders/3021.dat")).toEqual({
    kind: "file",
    directory: "012-Or_ders",
    database: 11,
    file: "3021.dat",
  });
  for (const name of [
    "../x",
    "/etc/passwd",
    "001-a/../b",
    "001-a/x/toc.dat",
    "000-a/toc.dat",
    "001-a/dump.1",
    "001-a/restore.sql",
    "",
    "globals.sql/x",
  ])
    expect(() => parseEntryName(name), name).toThrow(MalformedSet);
  fc.assert(
    fc.property(fc.string(), (name) => {
      try {
        const entry = parseEntryName(name);
        if (entry.kind === "file") expect(entry.file).toMatch(/^[a-z0-9_]+\.(?:dat|toc)$/);
      } catch (error) {
        expect(error).toBeInstanceOf(MalformedSet);
      }
    }),
  );
});
