import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, inject, it } from "vitest";
import { buildRelease } from "../../tools/package/build-release.ts";
import { epochHere, REPOSITORY } from "../../tools/package/release.ts";
import { runProgram } from "../../tools/package/run-program.ts";
import { signingKey } from "../../tools/package/signature.ts";

/** What a release consists of, held against the tools that will read it. */

const { out, version, keyFile } = inject("release");
const DEB = join(out, `attestore_${version}_amd64.deb`);
const RPM = join(out, `attestore-${version}-1.x86_64.rpm`);

const packaging = (...path: string[]): string => join(REPOSITORY, "packaging", ...path);

describe("the release", () => {
  it("has a checksum of every file, and a signature over the checksums", () => {
    runProgram("sha256sum", ["--check", "--strict", "SHA256SUMS"], { cwd: out });
    const listed = readFileSync(join(out, "SHA256SUMS"), "utf8")
      .trim()
      .split("\n")
      .map((line) => line.slice(66));
    const unlisted = ["SHA256SUMS", "SHA256SUMS.minisig", "minisign.pub"];
    expect(readdirSync(out).toSorted()).toEqual([...listed, ...unlisted].toSorted());
    const args = ["-V", "-Q", "-p", join(out, "minisign.pub"), "-m", join(out, "SHA256SUMS")];
    expect(runProgram("minisign", args).trim()).toBe(`attestore ${version}`);
  });

  it("is the same to the byte when it is built again, elsewhere and with another umask", async () => {
    const directory = mkdtempSync(join(tmpdir(), "attestore-again-"));
    const before = process.umask(0o077);
    try {
      const again = {
        version,
        epoch_s: epochHere(process.env),
        out: join(directory, "somewhere", "else"),
        compression: "fast" as const,
      };
      await buildRelease(again, ["amd64"], signingKey(keyFile), () => undefined);
      const names = readdirSync(out);
      expect(readdirSync(again.out)).toEqual(names);
      for (const name of names)
        expect(readFileSync(join(again.out, name)).equals(readFileSync(join(out, name))), name).toBe(true);
    } finally {
      process.umask(before);
      rmSync(directory, { recursive: true, force: true });
    }
  });

  it("tells nothing of the machine that built it", () => {
    const found = spawnSync("grep", ["-laF", "-e", REPOSITORY, "-e", out, "-r", out], { encoding: "utf8" });
    expect(found.stdout).toBe("");
  });
});

describe("the Debian package", () => {
  it("is one that lintian has nothing against", () => {
    const { stdout, stderr, status } = spawnSync(
      "lintian",
      ["--allow-root", "--tag-display-limit", "0", "--fail-on", "error,warning", DEB],
      { encoding: "utf8" },
    );
    expect(stdout + stderr).toBe("");
    expect(status).toBe(0);
  });

  it("takes the place of the one under the former name", () => {
    const field = (name: string): string => runProgram("dpkg-deb", ["--field", DEB, name]).trim();
    expect(field("Provides")).toBe(`attestore-agent (= ${version})`);
    expect([field("Replaces"), field("Conflicts")]).toEqual(["attestore-agent", "attestore-agent"]);
    // Nothing of the root is the package's: no configuration file that dpkg could ask about.
    expect(runProgram("dpkg-deb", ["--contents", DEB])).not.toMatch(/var\/lib|etc\//);
  });
});

describe("the RPM package", () => {
  it("takes the place of the one under the former name", () => {
    const list = (what: string): string => runProgram("rpm", ["-qp", what, RPM]);
    expect(list("--provides")).toContain(`attestore-agent = ${version}-1`);
    expect(list("--obsoletes")).toContain(`attestore-agent < ${version}-1`);
    expect(list("--conflicts")).toContain(`attestore-agent < ${version}-1`);
  });
});

it("the scripts are clean shell", () => {
  const scripts = [
    "install.sh",
    "migrate.sh",
    "debian/preinst",
    "debian/postinst",
    "debian/prerm",
    "debian/postrm",
  ];
  const tests = ["test/clean-root.sh", "test/throwaway-system.sh"];
  runProgram(
    "shellcheck",
    [...scripts, ...tests].map((name) => packaging(name)),
  );
  runProgram("shellcheck", ["--shell=dash", packaging("install.sh"), packaging("migrate.sh")]);
  runProgram("shellcheck", [join(import.meta.dirname, "../../tools/test-databases")]);
});

it.each(["migrate.bats", "install.bats"])("%s", (file) => {
  const { stdout, stderr, status } = spawnSync("bats", ["--tap", packaging("test", file)], {
    encoding: "utf8",
    env: { ...process.env, RELEASE: out },
  });
  expect(status, stdout + stderr).toBe(0);
  expect(stdout).not.toMatch(/^not ok|# skip/m);
});
