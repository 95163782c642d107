import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../../../config/source-limits.ts";
import { treeManifest } from "../../files/tree/tree-manifest.ts";
import type { TreeSummed } from "../../files/tree/tree-sums.ts";
import { type Archived, ArchivedTree } from "./archived-tree.ts";
import { ForeignTar } from "./foreign-tar.ts";

/** An archive that any tar made is summed up as the tree that GNU tar extracts of it. */

const never = new AbortController().signal;
const KEY = Buffer.alloc(32, 7);
const ASPECTS = ["names", "others", "targets", "sizes", "contents", "modes", "times", "seconds"] as const;
let dir: string;
let made = 0;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "foreign-tar-"));
  run(`mkdir -p t/d/e t/empty; echo hello >t/a; ln t/a t/d/hard; ln t/a t/0; ln -s ../a t/d/s; ln -s /nowhere t/out
    head -c 70000 /dev/urandom >t/d/e/blob; chmod 600 t/a; chmod 4755 t/d/e/blob; chmod 750 t/d; mkfifo t/pipe; : >t/d/none
    touch -hd '2001-02-03 04:05:06' t/a t/d/s t/d/e/blob t/d/none t/pipe t/empty t/d/e t/d t/out t`);
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function run(command: string): void {
  execFileSync("sh", ["-euc", command], { cwd: dir, stdio: ["ignore", "pipe", "pipe"] });
}

async function read(
  bytes: Buffer,
  piece = bytes.length,
  limits = DEFAULT_LIMITS,
): Promise<{ archived: Archived; why: string | null; isContinued: boolean; hasDevice: boolean }> {
  const sink = new ArchivedTree(KEY, limits, never);
  const reader = new ForeignTar(sink);
  for (let at = 0; at < bytes.length; at += piece) await reader.push(bytes.subarray(at, at + piece));
  reader.end();
  const why = reader.why ?? sink.why;
  return { archived: sink.finish(), why, isContinued: reader.isContinued, hasDevice: sink.hasDevice };
}

async function extracted(archive: string, { impliedDirectories, links }: Archived): Promise<TreeSummed> {
  const tree = join(dir, `tree-${(made += 1)}`);
  mkdirSync(tree);
  run(`umask 077; cd ${tree}; tar --extract --delay-directory-restore --no-same-owner -p -f ${archive}`);
  const lookedFor = { key: KEY.toString("hex"), impliedDirectories, links };
  const { summed = {} } = await treeManifest(tree, never, { logicalBytes: Infinity, lookedFor });
  return summed;
}

const LONG = "n".repeat(120);
test.each([
  ["GNU tar, posix", "tar --format=posix -cf A t"],
  ["GNU tar, gnu", "tar --format=gnu -cf A t"],
  ["GNU tar, oldgnu", "tar --format=oldgnu -cf A t"],
  ["GNU tar, ustar", "tar --format=ustar -cf A t"],
  ["GNU tar, names without their directories", "tar -cf A t/d/e/blob t/d/s t/a"],
  ["GNU tar, with a dot before each name", "tar -cf A ./t"],
  ["GNU tar, of what is below", "cd t; tar -cf ../A ."],
  ["GNU tar, from the root", "tar -Pcf A $PWD/t"],
  ["GNU tar, links before what they link to", "tar -cf A t/d/hard t/a t/0"],
  [
    "GNU tar, long names",
    `cp -a t u; cp -a t/a u/${LONG}; ln -s ${LONG}/${LONG} u/l; tar --format=gnu -cf A u; rm -r u`,
  ],
  ["GNU tar, long names in posix", `cp -a t u; cp -a t/a u/${LONG}; tar --format=posix -cf A u; rm -r u`],
  ["GNU tar, holes", "truncate -s 3M h; echo x >>h; tar --format=posix -Scf A h; rm h"],
  ["GNU tar, fractions of a second", "touch f; tar --format=posix -cf A f; rm f"],
  ["GNU tar, before 1970", "touch -d '1955-01-01 00:00:00.5' f; tar --format=posix -cf A f; rm f"],
  ["GNU tar, bytes that are not UTF-8", "printf x >\"$(printf 'caf\\351')\"; tar -cf A caf*; rm caf*"],
  ["bsdtar, pax", "bsdtar --format=pax -cf A t"],
  ["bsdtar, ustar", "bsdtar --format=ustar -cf A t"],
  ["Python", "python3 -c \"import tarfile; a = tarfile.open('A', 'w'); a.add('t'); a.close()\""],
  [
    "Python, gnu",
    "python3 -c \"import tarfile; a = tarfile.open('A', 'w', format=tarfile.GNU_FORMAT); a.add('t'); a.close()\"",
  ],
  [
    "git archive",
    "rm -rf g; git init -q g; cp -r t/d g; cd g; git add .; git -c user.name=a -c user.email=a@b commit -qm a; git archive -o ../A HEAD",
  ],
])("%s", async (_, command) => {
  const archive = join(dir, "A");
  run(command);
  const bytes = readFileSync(archive);
  const { archived, why } = await read(bytes);
  expect(why).toBeNull();
  const summed = await extracted(archive, archived);
  for (const aspect of ASPECTS) expect(summed[aspect], aspect).toEqual(archived.summed[aspect]);
  for (const piece of [1, 511, 513])
    expect((await read(bytes.subarray(0, 20_480), piece)).why).toBe(
      (await read(bytes.subarray(0, 20_480))).why,
    );
});

describe("a tree that is another one than its archive", () => {
  test.each([
    ["a file lost", "rm t/d/none", "names"],
    ["a file added", "touch t/new", "names"],
    ["an empty directory lost", "rmdir t/empty", "names"],
    ["a byte changed", "printf J | dd of=t/a conv=notrunc status=none", "contents"],
    ["a file cut off", "truncate -s 5 t/d/e/blob", "sizes"],
    ["a link changed", "ln -sfn ../b t/d/s", "targets"],
    ["a mode changed", "chmod 755 t/d/e/blob", "modes"],
    ["a time changed", "touch -d 2002-01-01 t/a", "times"],
    ["a hard link made a copy", "cp -p t/d/hard x; mv x t/d/hard", "names"],
    ["the name with the content lost", "rm t/a", "names"],
    ["two files exchanged", "mv t/a x; mv t/d/none t/a; mv x t/d/none", "names"],
    ["a pipe lost", "rm t/pipe", "others"],
  ] as const)("%s", async (_, change, aspect) => {
    run("tar -cf A t/d t/a t/pipe t/empty");
    const { archived } = await read(readFileSync(join(dir, "A")));
    run(`rm -rf b; mkdir b; tar -C b -xpf A; cd b; ${change}`);
    const lookedFor = { ...archived, key: KEY.toString("hex") };
    const { summed } = await treeManifest(join(dir, "b"), never, { logicalBytes: Infinity, lookedFor });
    expect(summed?.[aspect]).not.toEqual(archived.summed[aspect]);
  });
});

describe("an archive that is no measure", () => {
  test.each([
    ["a name comes twice", "tar -cf A t/a; tar -rf A t/a"],
    ["a name is below something that is not a directory", "ln -s t l; tar -cf A l l/d/none; rm l"],
    ["something of an unknown type", "rm -f snar; tar --listed-incremental=snar -cf A t"],
    [
      "a sparse file is in GNU tar's old format",
      "truncate -s 1M h; echo x >>h; tar --format=gnu -Scf A h; rm h",
    ],
    [
      "a global extended header changes what follows",
      "tar --format=posix --pax-option=globexthdr.name=g,uid=5 -cf A t/a",
    ],
    ["a name is empty, or has a ..", "cd t/d; tar -Pcf ../../A ../a"],
  ])("%s", async (why, command) => {
    run(command);
    expect((await read(readFileSync(join(dir, "A")))).why).toContain(why);
  });

  test.each([
    [
      "it has more than 20000 hard links",
      "for n in range(20001): add('l%d' % n, tarfile.LNKTYPE, linkname='t/a')",
    ],
    [
      "are too long together",
      "for n in range(6000): add('%s/%d' % ('/'.join(['n' * 200] * 15), n), tarfile.LNKTYPE, linkname='t/a')",
    ],
    ["are too long together", "add('a/' * 8000 + 'b', tarfile.REGTYPE)"],
    ["a NUL", "add('l', tarfile.SYMTYPE, pax_headers={'linkpath': 'a\\0b'})"],
  ])("%s", async (why, add) => {
    const script = `import tarfile
a = tarfile.open("A", "w", format=tarfile.PAX_FORMAT)
a.add("t/a")
def add(name, type, **more):
  t = tarfile.TarInfo(name); t.type = type
  for k, v in more.items(): setattr(t, k, v)
  a.addfile(t)
${add}
a.close()`;
    execFileSync("python3", ["-c", script], { cwd: dir });
    expect((await read(readFileSync(join(dir, "A")))).why).toContain(why);
  });

  test("an archive that continues after its end", async () => {
    run("tar -cf A t/a; tar -cf B t/d/none; cat A B >C");
    expect(await read(readFileSync(join(dir, "C")))).toMatchObject({ why: null, isContinued: true });
    expect(await read(readFileSync(join(dir, "A")))).toMatchObject({ why: null, isContinued: false });
  });

  test("files larger than the limit", async () => {
    run("truncate -s 1T h; tar --format=posix -Scf A h; rm h");
    const limits = { ...DEFAULT_LIMITS, logicalBytes: 2 ** 39 };
    await expect(read(readFileSync(join(dir, "A")), 4096, limits)).rejects.toMatchObject({
      code: "restore_refused",
    });
  });

  test("any change of an archive is read without an error, and never in more memory", async () => {
    run("tar --format=posix -cf A t");
    const bytes = readFileSync(join(dir, "A"));
    await fc.assert(
      fc.asyncProperty(
        fc.nat(bytes.length - 1),
        fc.integer({ min: 0, max: 255 }),
        fc.nat(bytes.length),
        async (at, to, cut) => {
          const changed = Buffer.from(bytes.subarray(0, cut));
          if (at < cut) changed[at] = to;
          await read(changed, 4096);
        },
      ),
      { numRuns: 300 },
    );
  });
});
