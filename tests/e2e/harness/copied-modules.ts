import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MODULES = join(import.meta.dirname, "../../../node_modules");

/** A temporary directory on the disk of this checkout's packages, if one of the usual places is. */
export function directoryOnTheirDisk(prefix: string): string {
  const places = [tmpdir(), "/tmp", "/var/tmp"];
  return mkdtempSync(join(places.find(isOnTheirDisk) ?? tmpdir(), prefix));
}

/**
 * npm's packages of this checkout, in `node_modules` of another: links to the same bytes where it
 * is on the same disk, because they are most of a gigabyte, which nobody changes. Caches are left
 * out, which come and go while other tests run.
 */
export function copyModules(checkout: string): void {
  const installed = readdirSync(MODULES).filter((name) => name !== ".cache" && !name.startsWith(".vite"));
  const to = join(checkout, "node_modules");
  mkdirSync(to);
  const how = isOnTheirDisk(to) ? ["-al"] : ["-a", "--reflink=auto"];
  execFileSync("cp", [...how, ...installed, to], { cwd: MODULES });
}

function isOnTheirDisk(place: string): boolean {
  return statSync(place, { throwIfNoEntry: false })?.dev === statSync(MODULES).dev;
}
