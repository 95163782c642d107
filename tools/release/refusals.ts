import { existsSync } from "node:fs";
import { parsePublicKey } from "./public-key.ts";

export interface Planned {
  readonly version: string;
  /** The version in package.json. */
  readonly before: string;
  /** minisign's secret key file. */
  readonly key: string | undefined;
  /** The project's public key, as hosts know it; null before there is one. */
  readonly releaseKey: string | null;
  /** What the CHANGELOG has under Unreleased. */
  readonly notes: string;
  /** Uncommitted changes, as `git status` prints them. */
  readonly uncommitted: string;
  /** Whether all tests passed for this commit, the long ones too. */
  readonly isTested: boolean;
}

/** Why no release can be made, as a message for the user; null if it can. */
export function refusal(planned: Planned): string | null {
  const { version, before, key, releaseKey, notes, uncommitted } = planned;
  if (!/^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/.test(version))
    return `"${version}" is not a version. Use three numbers: npm run release -- 1.2.3 --minisign-key FILE`;
  if (!isLater(version, before)) return `${version} is not later than the current version, ${before}.`;
  if (key === undefined)
    return "A release is signed with the project's release key. Name its secret key file: --minisign-key FILE (docs/releasing.md)";
  if (!existsSync(key)) return `There is no release key at ${key}.`;
  if (releaseKey === null)
    return "The project has no release key yet. Make one as docs/releasing.md describes, and put its public key into packages/contract/src/release-key.ts.";
  const publicKey = parsePublicKey(`${key}.pub`);
  if (publicKey === null) return `Its public key file is missing: ${key}.pub`;
  if (publicKey !== releaseKey)
    return `${key} is not the release key that hosts trust: it is ${publicKey}, they trust ${releaseKey} (packages/contract/src/release-key.ts).`;
  if (notes === "") return "CHANGELOG.md has nothing under Unreleased.";
  if (uncommitted !== "") return `Commit or stash these changes first:\n${uncommitted}`;
  if (!planned.isTested)
    return "Not all tests are known to have passed for this commit. Run them in this checkout, without other changes: npm run test:all";
  return null;
}

function isLater(version: string, before: string): boolean {
  const [a, b] = [version, before].map((each) => each.split(".").map(Number));
  for (const [n, part] of (a ?? []).entries()) if (part !== b?.[n]) return part > (b?.[n] ?? 0);
  return false;
}
