/**
 * `npm run release`: sets the version, closes the CHANGELOG's section, commits and tags that, and
 * builds everything that is published, with checksums, their signature and the notes, into dist/.
 * Nothing is pushed or published.
 *
 *   npm run release -- VERSION --minisign-key FILE [--arch amd64,arm64] [--fast]
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { RELEASE_KEY } from "../../packages/contract/src/release-key.ts";
import { packForNpm } from "../npm/packages.ts";
import { buildRelease } from "../package/build-release.ts";
import { isTested } from "../test/tested.ts";
import { architecturesOf, epochHere, REPOSITORY, versionHere } from "../package/release.ts";
import { signingKey } from "../package/signature.ts";
import { unreleased, withRelease } from "./changelog.ts";
import { refusal } from "./refusals.ts";
import { setVersion } from "./set-version.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    "minisign-key": { type: "string" },
    arch: { type: "string", default: "amd64,arm64" },
    fast: { type: "boolean", default: false },
  },
});
const [version = ""] = positionals;
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const git = (...args: string[]): string =>
  execFileSync("git", args, { cwd: REPOSITORY, encoding: "utf8" }).trim();

const changelogFile = join(REPOSITORY, "CHANGELOG.md");
const changelog = readFileSync(changelogFile, "utf8");
const notes = unreleased(changelog);
const key = values["minisign-key"];
const why = refusal({
  version,
  before: versionHere(),
  key,
  releaseKey: RELEASE_KEY,
  notes,
  uncommitted: git("status", "--porcelain"),
  isTested: isTested(REPOSITORY),
});
if (why === null) await release();
else {
  process.stderr.write(`No release was made. ${why}\n`);
  process.exitCode = 2;
}

async function release(): Promise<void> {
  const before = git("rev-parse", "HEAD");
  const out = join(REPOSITORY, "dist");
  const architectures = architecturesOf(values.arch);
  setVersion(REPOSITORY, version);
  writeFileSync(changelogFile, withRelease(changelog, version, new Date().toISOString().slice(0, 10)));
  git("commit", "--quiet", "--all", "--message", `Version ${version}`);
  try {
    const made = {
      version,
      epoch_s: epochHere({}),
      out,
      compression: values.fast ? ("fast" as const) : ("best" as const),
      releaseKey: RELEASE_KEY,
    };
    await buildRelease(made, architectures, signingKey(key), say, (directory) => [
      ...packForNpm(directory),
      writeNotes(directory),
    ]);
    git("tag", "--annotate", "--message", `Version ${version}`, `v${version}`);
  } catch (error) {
    // The checkout was clean before, so nothing is lost.
    git("reset", "--quiet", "--hard", before);
    throw error;
  }
  say(`\nVersion ${version} is in ${out}, committed and tagged as v${version}. Check it, then publish it:`);
  say(`  git push --follow-tags`);
  say(
    `  npm publish dist/attestore-proof-${version}.tgz && npm publish dist/attestore-verify-${version}.tgz`,
  );
  say(`  upload the other files of dist/ as a release with NOTES.md as its text`);
}

function writeNotes(directory: string): string {
  const verify = [
    "### Verify what you download",
    "",
    "```sh",
    `minisign -Vm SHA256SUMS -P ${RELEASE_KEY}          # prints "Trusted comment: attestore ${version}"`,
    "sha256sum --check --ignore-missing SHA256SUMS",
    "```",
  ];
  writeFileSync(
    join(directory, "NOTES.md"),
    [`# Attestore ${version}`, "", notes, "", ...verify, ""].join("\n"),
  );
  return "NOTES.md";
}
