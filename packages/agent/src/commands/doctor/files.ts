import { access, constants, readdir, stat, statfs } from "node:fs/promises";
import type { Layout } from "../../root/layout.ts";
import { isLocked } from "../../root/lock.ts";
import { systemCode } from "../../root/system-code.ts";
import { formatBytes } from "../../terminal/amounts.ts";
import { bad, good, warn, type Finding } from "./finding.ts";

const LOW_BYTES = 1e9;

/** Modes of keys, room on the disk, what runs left behind. */
export async function examineFiles(layout: Layout): Promise<Finding[]> {
  return [...(await examineKeys(layout)), await examineDisk(layout), await examineScratch(layout)];
}

async function examineKeys(layout: Layout): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const path of [layout.keys, layout.signingKey, layout.token, layout.ageIdentity]) {
    const mode = await modeOf(path);
    // Whoever keeps the identity elsewhere has none here, on purpose.
    if (mode === null && path === layout.ageIdentity) continue;
    if (mode === null) findings.push(bad("keys", `${path} is missing`, "attestore init"));
    else if ((mode & 0o077) !== 0) {
      const shown = mode.toString(8).padStart(3, "0");
      findings.push(bad("keys", `${path} can be read by others (mode ${shown})`, `chmod go= ${path}`));
    } else if (!(await isReadable(path))) {
      findings.push(
        bad("keys", `${path} can't be read by this user`, "run attestore as the owner of its root"),
      );
    }
  }
  return findings.length > 0 ? findings : [good("keys", "there, and nobody else can read them")];
}

async function examineDisk(layout: Layout): Promise<Finding> {
  const { bavail, bsize, blocks } = await statfs(layout.root);
  const free = bavail * bsize;
  const detail = `${formatBytes(free)} free of ${formatBytes(blocks * bsize)}`;
  const next = "a backup needs room for its ciphertext, a restore test for the restored data too";
  return free < LOW_BYTES ? warn("disk", detail, next) : good("disk", detail);
}

async function examineScratch(layout: Layout): Promise<Finding> {
  const left = await readdir(layout.scratch);
  if (left.length === 0) return good("sandboxes", "nothing left behind");
  if (isLocked(layout, "work")) return good("sandboxes", "one is in use");
  return warn(
    "sandboxes",
    `${left.length} left behind in ${layout.scratch} by a run that was killed`,
    "the next backup or restore test removes them",
  );
}

async function modeOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).mode & 0o777;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return null;
    throw error;
  }
}

async function isReadable(path: string): Promise<boolean> {
  try {
    await access(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
