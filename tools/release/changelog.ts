const UNRELEASED = "## Unreleased";

/** What stands under Unreleased; empty for nothing. */
export function unreleased(changelog: string): string {
  const [, after = ""] = changelog.split(`\n${UNRELEASED}\n`);
  const [section = ""] = after.split(/^## /m);
  return section.trim();
}

/** With what is unreleased as the section of a version. */
export function withRelease(changelog: string, version: string, day: string): string {
  return changelog.replace(`\n${UNRELEASED}\n`, `\n${UNRELEASED}\n\n## ${version} - ${day}\n`);
}
