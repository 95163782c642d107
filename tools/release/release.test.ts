import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { REPOSITORY, versionHere } from "../package/release.ts";
import { unreleased, withRelease } from "./changelog.ts";
import { refusal } from "./refusals.ts";
import { versionsIn } from "./set-version.ts";

test("every copy of the version that npm needs is the one of package.json", () => {
  expect(versionsIn(REPOSITORY)).toEqual([versionHere()]);
});

test("a release's section of the changelog is the Unreleased section", () => {
  const before =
    "# Changelog\n\n## Unreleased\n\n### Fixed\n\n- A defect.\n\n## 0.1.0 - 2026-01-01\n\n- All.\n";
  expect(unreleased(before)).toBe("### Fixed\n\n- A defect.");
  const after = withRelease(before, "0.2.0", "2026-02-03");
  expect(after).toContain("## Unreleased\n\n## 0.2.0 - 2026-02-03\n\n### Fixed\n\n- A defect.\n\n## 0.1.0");
  expect(unreleased(after)).toBe("");
});

const directory = mkdtempSync(join(tmpdir(), "attestore-release-key-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const key = join(directory, "release.key");
const PUBLIC = `RW${"A".repeat(54)}`;
writeFileSync(key, "secret");
writeFileSync(`${key}.pub`, `untrusted comment: a key\n${PUBLIC}\n`);
const alone = join(directory, "alone.key");
writeFileSync(alone, "secret");

const fine = {
  version: "0.2.0",
  before: "0.1.9",
  key,
  releaseKey: PUBLIC,
  notes: "- Much.",
  uncommitted: "",
  isTested: true,
};

test("a release without problems is allowed", () => {
  expect(refusal(fine)).toBeNull();
  expect(refusal({ ...fine, version: "0.1.10" })).toBeNull();
});

test.each([
  [{ version: "" }, "is not a version"],
  [{ version: "v0.2.0" }, "is not a version"],
  [{ version: "0.1.9" }, "is not later than the current version, 0.1.9"],
  [{ version: "0.1.8" }, "is not later than the current version, 0.1.9"],
  [{ key: undefined }, "--minisign-key FILE"],
  [{ key: join(directory, "gone.key") }, "There is no release key at"],
  [{ releaseKey: null }, "has no release key yet"],
  [{ key: alone }, "public key file is missing"],
  [{ releaseKey: `RW${"B".repeat(54)}` }, "is not the release key that hosts trust"],
  [{ notes: "" }, "nothing under Unreleased"],
  [{ uncommitted: " M README.md" }, "README.md"],
  [{ isTested: false }, "npm run test:all"],
])("a release is refused for %o", (change, why) => {
  expect(refusal({ ...fine, ...change })).toContain(why);
});
