import { chmodSync, lstatSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { join, relative } from "node:path";
import { layOutTree, makeDirectories, readPackaging, zip } from "./artefact-tree.ts";
import type { Architecture, Release } from "./release.ts";
import { runProgram } from "./run-program.ts";

const SCRIPTS = ["preinst", "postinst", "prerm", "postrm"] as const;

/** Builds the Debian package and returns its file's name. */
export function makeDeb(
  executable: string,
  notices: string,
  architecture: Architecture,
  release: Release,
  scratch: string,
): string {
  const tree = mkdtempSync(join(scratch, "deb-"));
  chmodSync(tree, 0o755);
  layOutTree(tree, { executable, notices, unitDirectory: "lib/systemd/system" }, release);
  writeInto(tree, "usr/share/lintian/overrides/attestore", readPackaging("debian/lintian-overrides"));
  writeInto(tree, "usr/share/doc/attestore/copyright", readPackaging("debian/copyright"));
  writeInto(tree, "usr/share/doc/attestore/changelog.gz", zip(debianChangelog(release)));
  const files = filesBelow(tree);
  const control = readPackaging("debian/control", release)
    .replace("@ARCHITECTURE@", architecture)
    .replace(
      "@INSTALLED_SIZE@",
      String(Math.ceil(files.reduce((sum, file) => sum + lstatSync(file).size, 0) / 1024)),
    );
  writeInto(tree, "DEBIAN/control", control);
  writeInto(tree, "DEBIAN/md5sums", files.map((file) => `${md5(file)}  ${relative(tree, file)}\n`).join(""));
  for (const name of SCRIPTS) writeInto(tree, `DEBIAN/${name}`, readPackaging(`debian/${name}`), 0o755);
  const name = `attestore_${release.version}_${architecture}.deb`;
  // One thread: xz gives other bytes with several.
  const compression = release.compression === "best" ? ["-Zxz", "-z6"] : ["-Zgzip", "-z1"];
  runProgram(
    "dpkg-deb",
    ["--root-owner-group", ...compression, "--threads-max=1", "--build", tree, join(release.out, name)],
    { env: { SOURCE_DATE_EPOCH: String(release.epoch_s) } },
  );
  return name;
}

/**
 * Debian's own format (deb-changelog(5)), for what changed in the packaging; ours is
 * CHANGELOG.md.gz.
 */
function debianChangelog({ version, epoch_s }: Release): string {
  const date = new Date(epoch_s * 1000).toUTCString().replace("GMT", "+0000");
  return `attestore (${version}) stable; urgency=medium\n\n  * See CHANGELOG.md.gz.\n\n -- Attestore <packages@attestore.dev>  ${date}\n`;
}

function writeInto(tree: string, path: string, text: string | Buffer, mode = 0o644): void {
  makeDirectories(join(tree, path, ".."));
  writeFileSync(join(tree, path), text);
  chmodSync(join(tree, path), mode);
}

function filesBelow(tree: string): string[] {
  return readdirSync(tree, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}

/** What dpkg's format asks for; nothing rests on it. */
function md5(file: string): string {
  return createHash("md5").update(readFileSync(file)).digest("hex");
}
