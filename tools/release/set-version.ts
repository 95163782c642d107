import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

interface Manifest {
  name: string;
  version: string;
  dependencies?: Record<string, string>;
}

/**
 * The version of package.json and every copy of it that npm wants: of the packages, of what they
 * need of each other, and in the lockfile.
 */
export function versionsIn(root: string): string[] {
  const found: string[] = [];
  eachManifest(root, (manifest) => void found.push(...versionsOf(manifest)));
  return [...new Set(found)];
}

export function setVersion(root: string, version: string): void {
  eachManifest(root, (manifest) => {
    manifest.version = version;
    for (const name of ownDependencies(manifest))
      if (manifest.dependencies !== undefined) manifest.dependencies[name] = version;
  });
}

function versionsOf(manifest: Manifest): string[] {
  return [manifest.version, ...ownDependencies(manifest).map((name) => manifest.dependencies?.[name] ?? "")];
}

function ownDependencies({ dependencies = {} }: Manifest): string[] {
  return Object.keys(dependencies).filter((name) => name.startsWith("@attestore/"));
}

function eachManifest(root: string, change: (manifest: Manifest) => void): void {
  const packages = readdirSync(join(root, "packages")).map((name) => `packages/${name}`);
  for (const directory of ["", ...packages])
    rewrite(join(root, directory, "package.json"), (json) => change(json as Manifest));
  rewrite(join(root, "package-lock.json"), (json) => {
    const lockfile = json as Manifest & { packages: Record<string, Manifest> };
    change(lockfile);
    for (const directory of ["", ...packages]) {
      const locked = lockfile.packages[directory];
      if (locked !== undefined) change(locked);
    }
  });
}

function rewrite(file: string, change: (json: unknown) => void): void {
  const text = readFileSync(file, "utf8");
  const json: unknown = JSON.parse(text);
  change(json);
  const changed = `${JSON.stringify(json, null, 2)}\n`;
  if (changed !== text) writeFileSync(file, changed);
}
