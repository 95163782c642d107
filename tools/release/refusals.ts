import { existsSync } from "node:fs";
import { parsePublicKey } from "./public-key.ts";

export interface Planned {
  readonly version: string;
  /** The one that stands in package.json. */
  readonly before: string;
  /** minisign's secret key file. */
  readonly key: string | undefined;
  /** The project's, as hosts know it; null before there is one. */
  readonly releaseKey: string | null;
  /** What the CHANGELOG has under Unreleased. */
  readonly notes: string;
  /** What git says is not committed. */
  readonly uncommitted: string;
}

/** Why no release can be made, in words for who tried; null where nothing is in the way. */
export function refusal({ version, before, key, releaseKey, notes, uncommitted }: Planned): string | null {
  if (!/^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/.test(version))
    return `"${version}" is no version. It takes three numbers: npm run release -- 1.2.3 --minisign-key FILE`;
  if (!isLater(version, before)) return `${version} does not come after ${before}, which is the version now.`;
  if (key === undefined)
    return "A release is signed with the project's release key. Name its secret half: --minisign-key FILE (docs/releasing.md)";
  if (!existsSync(key)) return `There is no release key at ${key}.`;
  if (releaseKey === null)
    return "The project has no release key yet. Make it as docs/releasing.md says, and put its public half into packages/contract/src/release-key.ts.";
  const publicKey = parsePublicKey(`${key}.pub`);
  if (publicKey === null) return `The key's public half is not beside it: ${key}.pub`;
  if (publicKey !== releaseKey)
    return `${key} is not the release key that hosts know: ${publicKey} instead of ${releaseKey} (packages/contract/src/release-key.ts).`;
  if (notes === "") return "CHANGELOG.md has nothing under Unreleased.";
  if (uncommitted !== "") return `Commit or put away first what is not committed:\n${uncommitted}`;
  return null;
}

function isLater(version: string, before: string): boolean {
  const [a, b] = [version, before].map((each) => each.split(".").map(Number));
  for (const [n, part] of (a ?? []).entries()) if (part !== b?.[n]) return part > (b?.[n] ?? 0);
  return false;
}
