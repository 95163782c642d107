import { copyFileSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { layOutTree, makeDirectories, readPackaging } from "./artefact-tree.ts";
import type { Architecture, Release } from "./release.ts";
import { runProgram } from "./run-program.ts";

const RPM_ARCHITECTURE: Record<Architecture, string> = { amd64: "x86_64", arm64: "aarch64" };

/** Builds the RPM package and returns its file's name. */
export function makeRpm(
  executable: string,
  notices: string,
  architecture: Architecture,
  release: Release,
  scratch: string,
): string {
  const top = mkdtempSync(join(scratch, "rpm-"));
  const sources = join(top, "SOURCES");
  layOutTree(sources, { executable, notices, unitDirectory: "usr/lib/systemd/system" }, release);
  makeDirectories(join(sources, "var/lib/attestore"));
  const spec = join(top, "attestore.spec");
  writeFileSync(spec, readPackaging("rpm/attestore.spec", release));
  const target = RPM_ARCHITECTURE[architecture];
  const settings = {
    _topdir: top,
    _sourcedir: sources,
    _tmppath: join(top, "tmp"),
    _dbpath: join(top, "db"),
    // Nothing of the machine that builds gets into the package.
    _buildhost: "reproducible",
    use_source_date_epoch_as_buildtime: "1",
    clamp_mtime_to_source_date_epoch: "1",
    source_date_epoch_from_changelog: "0",
    _binary_payload: release.compression === "best" ? "w19.zstdio" : "w1.zstdio",
    _unitdir: "/usr/lib/systemd/system",
  };
  makeDirectories(settings._tmppath);
  runProgram(
    "rpmbuild",
    [
      "-bb",
      "--quiet",
      "--target",
      `${target}-linux`,
      ...Object.entries(settings).flatMap(([name, value]) => ["--define", `${name} ${value}`]),
      spec,
    ],
    { env: { SOURCE_DATE_EPOCH: String(release.epoch_s), HOME: top } },
  );
  const name = `attestore-${release.version}-1.${target}.rpm`;
  copyFileSync(join(top, "RPMS", target, name), join(release.out, name));
  return name;
}
