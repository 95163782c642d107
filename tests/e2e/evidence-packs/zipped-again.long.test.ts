import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { save } from "../harness/packs.ts";
import { makeGoodPack } from "./good-pack.ts";

const { file, verify } = await makeGoodPack();

/**
 * How tools write what they zip; each in a directory that has the pack's files in `Evidence (1)`.
 */
const ZIPPERS: [string, string][] = [
  ["Info-ZIP", "cd 'Evidence (1)' && zip -qr ../again.zip ."],
  ["Info-ZIP, the folder, stored", "zip -qr0 again.zip 'Evidence (1)'"],
  ["Info-ZIP, best, without folders and extra fields", "cd 'Evidence (1)' && zip -qrXD9 ../again.zip *"],
  ["Info-ZIP, ZIP64 everywhere", "zip -fz -qr again.zip 'Evidence (1)'"],
  ["Info-ZIP, as a stream", "cd 'Evidence (1)' && zip -qr - . | cat > ../again.zip"],
  ["7-Zip", "cd 'Evidence (1)' && 7z a -tzip ../again.zip ."],
  ["7-Zip, the folder, best, with NTFS' times", "7z a -tzip -mx=9 -mtc=on again.zip 'Evidence (1)'"],
  ["7-Zip, stored", "cd 'Evidence (1)' && 7z a -tzip -mx=0 ../again.zip *"],
  ["libarchive, as Windows 11 and macOS have it", "bsdtar --format zip -cf again.zip 'Evidence (1)'"],
  ["libarchive, from inside", "cd 'Evidence (1)' && bsdtar --format zip -cf ../again.zip ."],
  ["Python's zipfile", "cd 'Evidence (1)' && python3 -m zipfile -c ../again.zip *"],
  ["Python's shutil", 'python3 -c \'import shutil; shutil.make_archive("again", "zip", "Evidence (1)")\''],
  ["Python, to what cannot seek, ZIP64", "python3 zippers.py stream | cat > again.zip"],
  ["the way of Windows Explorer", "python3 zippers.py explorer > again.zip"],
  ["the way of PowerShell", "python3 zippers.py powershell > again.zip"],
  ["the way of macOS", "python3 zippers.py ditto | cat > again.zip"],
];

/**
 * What the tools that do not run here write: hosts, attributes, extra fields, separators, files
 * beside.
 */
const ZIPPERS_PY = String.raw`
import io, os, random, sys, zipfile
style = sys.argv[1]
top = "Evidence (1)"
paths = sorted(os.path.relpath(os.path.join(at, one), top) for at, _, names in os.walk(top) for one in names)
random.Random(1).shuffle(paths)
out = io.BytesIO()
target = sys.stdout.buffer if style in ("stream", "ditto") else out
with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as z:
    def put(name, data, system, attributes, extra=b""):
        info = zipfile.ZipInfo(name, (2026, 11, 22, 10, 0, 0))
        info.filename = info.orig_filename = name
        info.create_system, info.external_attr, info.extra, info.compress_type = system, attributes, extra, zipfile.ZIP_DEFLATED
        with z.open(info, "w", force_zip64=style == "stream") as one:
            one.write(data)
    for path in paths:
        data = open(os.path.join(top, path), "rb").read()
        if style == "stream":
            put(path, data, 3, 0o600 << 16)
        elif style == "explorer":
            put(top + "/" + path, data, 0, 0x20)
        elif style == "powershell":
            put(path.replace("/", "\\"), data, 0, 0)
        else:
            put(top + "/" + path, data, 3, 0o100644 << 16, b"UX\x0c\x00" + bytes(12))
            put("__MACOSX/" + top + "/" + os.path.dirname(path) + "/._" + os.path.basename(path), bytes(120), 3, 0o100644 << 16)
    if style == "ditto":
        put(top + "/.DS_Store", bytes(6148), 3, 0o100644 << 16)
sys.stdout.buffer.write(out.getvalue())
`;

describe("a pack that was zipped again", () => {
  const shell = (command: string, cwd: string) =>
    spawnSync("bash", ["-euo", "pipefail", "-c", command], {
      cwd,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  let unpacked: string;
  beforeAll(async () => {
    unpacked = mkdtempSync(file("again-"));
    execFileSync("unzip", ["-q", file("good.zip"), "-d", join(unpacked, "Evidence (1)")]);
    await save(join(unpacked, "zippers.py"), Buffer.from(ZIPPERS_PY));
  });

  test.each(ZIPPERS)("by %s is as true as before", async (_what, command) => {
    const again = join(unpacked, "again.zip");
    rmSync(again, { force: true });
    const { status, stderr } = shell(command, unpacked);
    expect(stderr).toBe("");
    expect(status).toBe(0);
    expect(readFileSync(again).equals(readFileSync(file("good.zip")))).toBe(false);
    const outcome = await verify(again);
    expect(outcome.checks.filter(({ result }) => result !== "held")).toEqual([]);
    expect(outcome.verdict).toBe("true");
  });

  test("is still false if something was changed, added or removed before", async () => {
    for (const change of [
      "sed -i s/passed/PASSED/ summary.json",
      "echo more > more.txt",
      "rm index.html",
      "ln -sf README.txt link.txt",
    ]) {
      const changed = mkdtempSync(file("changed-"));
      const { status, stderr } = shell(
        `unzip -q ${file("good.zip")} && ${change} && zip -qry ../changed-again.zip .`,
        changed,
      );
      expect([status, stderr]).toEqual([0, ""]);
      expect((await verify(file("changed-again.zip"))).verdict, change).toBe("false");
      rmSync(file("changed-again.zip"));
    }
  });
});
