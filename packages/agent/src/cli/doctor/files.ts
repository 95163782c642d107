import { formatBytes, plural } from "@attestore/proof";
import { dirname, join } from "node:path";
import { access, constants, readdir, stat } from "node:fs/promises";
import { nullIfMissing } from "@attestore/host/null-if-missing";
import type { Config } from "../../config/config.ts";
import { credentialPath } from "../../secrets/credential.ts";
import type { Layout } from "../../state/layout.ts";
import { freeSpace, REMOUNT } from "../../state/free-space.ts";
import { isLocked } from "../../state/lock.ts";
import { readText } from "../../state/read-json.ts";
import { readSigningKey, signerSocket } from "../../signer/open-signing-keys.ts";
import { SYSTEM_ROOT } from "../../state/trusted-root.ts";
import { SIGNER_SOCKET } from "../../signer/command.ts";
import { socketOf } from "../../signer-client/signer-reference.ts";
import { heldRecipients } from "../../signer-client/remote-identities.ts";
import { UserError } from "../../errors/user-error.ts";
import { EngineApiError } from "../../sandboxes/container/engine-api.ts";
import { describeLeftover, reapLeftovers } from "../../sandboxes/leftovers.ts";
import { failed, type Finding, ok, warning } from "@attestore/host/finding";

const LOW_BYTES = 1e9;

/** Modes of keys, free disk space, and what runs left behind. */
export async function examineFiles(layout: Layout, config: Config | null): Promise<Finding[]> {
  return [...(await examineKeys(layout, config)), await examineDisk(layout), await examineScratch(layout)];
}

async function examineKeys(layout: Layout, config: Config | null): Promise<Finding[]> {
  const findings: Finding[] = [];
  const identities = config?.identityFiles ?? [];
  // Without a configuration nobody knows whether there is a service.
  const token = config !== null && config.standalone === null ? [layout.token] : [];
  const own = (await signerSocket(layout)) === null ? [layout.signingKey] : [];
  const expected = [layout.keys, ...own, ...token];
  for (const path of new Set([...expected, layout.ageIdentity, ...identities])) {
    const mode = await modeOf(path);
    const isIdentity = !expected.includes(path);
    // Somebody who deliberately keeps the identity elsewhere has none here.
    if (mode === null && isIdentity && !identities.includes(path)) continue;
    if (mode === null && isIdentity)
      findings.push(
        warning(
          "keys",
          `the identity ${path} is missing${isCredential(path) ? " in this call: systemd gives it only to the agent's unit" : ""}`,
          "restore tests need it; if another host runs them, remove it from identity_files",
        ),
      );
    else if (mode === null) findings.push(failed("keys", `${path} is missing`, "attestore init"));
    // A credential from systemd is readable by its group, but nobody else can enter its directory.
    else if ((mode & 0o077) !== 0 && !isCredential(path)) {
      const shown = mode.toString(8).padStart(3, "0");
      findings.push(failed("keys", `${path} can be read by others (mode ${shown})`, `chmod go= ${path}`));
    } else if (!(await isReadable(path))) {
      findings.push(
        failed("keys", `${path} can't be read by this user`, "run attestore as the owner of its root"),
      );
    }
  }
  if (findings.length === 0) findings.push(ok("keys", "present, and no other user can read them"));
  return [...findings, ...(await examineSigningKey(layout))];
}

/** The signing key, to compare with the service's or an auditor's copy. */
async function examineSigningKey(layout: Layout): Promise<Finding[]> {
  const signer = await signerSocket(layout);
  // A missing key is reported above.
  if (signer === null && !(await isReadable(layout.signingKey))) return [];
  try {
    const { fingerprint } = await readSigningKey(layout);
    return [
      ok("signing key", fingerprint),
      await examineSigner(layout, signer),
      ...(await examineIdentity(layout, signer)),
    ];
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const next =
      signer === null
        ? "restore the file from a copy, or attach this host again"
        : "systemctl status attestore-signer.socket attestore-signer.service";
    return [failed("signing key", error.message, next)];
  }
}

const MIGRATE = "systemctl stop attestore; /usr/lib/attestore/migrate; systemctl start attestore";

/** A signing process should also hold this root's identities. */
async function examineIdentity(layout: Layout, signer: string | null): Promise<Finding[]> {
  if (signer === null) return [];
  const names = (await readdir(layout.keys)).filter((name) => /^age.*\.key$/.test(name)).toSorted();
  const own: string[] = [];
  for (const name of names) {
    const text = await readText(join(layout.keys, name)).catch(() => null);
    if (text?.split("\n").some((line) => socketOf(line) !== null) !== true) own.push(name);
  }
  if (own.length > 0)
    return [
      warning(
        "identity",
        `this user can read and copy ${own.map((name) => join(layout.keys, name)).join(", ")}`,
        `as root: ${MIGRATE}`,
      ),
    ];
  if (names.length === 0) return [];
  const count = (await heldRecipients(signer)).length;
  return [
    count === 0
      ? failed("identity", "the signing process holds no identity", "restore its files: docs/keys.md")
      : ok("identity", `a separate process decrypts backups, for ${plural(count, "recipient")}`),
  ];
}

/** Who holds the key: a separate process, or this user. */
async function examineSigner({ root, signingKey }: Layout, signer: string | null): Promise<Finding> {
  const isThere = (await modeOf(signingKey)) !== null;
  // A move that did not finish left it, or somebody restored it from a copy.
  if (signer !== null && isThere)
    return warning("signer", `${signingKey} is not in use, and this user can read it`, `as root: ${MIGRATE}`);
  if (signer !== null) return ok("signer", `a separate process holds the signing key, at ${signer}`);
  const told = "the agent itself signs: this user can read the key";
  return root === SYSTEM_ROOT && (await modeOf(SIGNER_SOCKET)) !== null
    ? warning("signer", told, `as root: ${MIGRATE}`)
    : ok("signer", told);
}

async function examineDisk(layout: Layout): Promise<Finding> {
  const { free, all, isFull, isReadOnly } = await freeSpace(layout);
  if (isReadOnly)
    return failed("disk", `${layout.root} is on a read-only file system: no run can be recorded`, REMOUNT);
  const detail = `${formatBytes(free)} free of ${formatBytes(all)}`;
  if (isFull)
    return failed(
      "disk",
      `${detail} on the disk of ${layout.root}: no run can be recorded`,
      "make room there",
    );
  const next =
    "a backup needs space for its ciphertext; a restore test also needs space for the restored data";
  return free < LOW_BYTES ? warning("disk", detail, next) : ok("disk", detail);
}

async function examineScratch(layout: Layout): Promise<Finding> {
  let left;
  try {
    // Restored data that nobody misses. Data of a live run are not among them.
    left = await reapLeftovers(layout.scratch);
  } catch (error) {
    if (!(error instanceof EngineApiError)) throw error;
    return warning("sandboxes", error.message, "check that the container runtime works");
  }
  const stuck = left.filter(({ problem }) => problem !== null);
  if (stuck.length > 0)
    return warning("sandboxes", stuck.map(describeLeftover).join("; "), "inspect it as root (lsattr, mount)");
  if (left.length > 0) {
    const named = left.map(({ kind, name }) => `${kind} ${name}`).join(", ");
    return warning(
      "sandboxes",
      `removed leftovers of a killed run: ${named}`,
      "the system journal may show what killed it",
    );
  }
  return ok("sandboxes", isLocked(layout, "work") ? "one is in use now" : "no leftovers");
}

function isCredential(path: string): boolean {
  return dirname(path) === dirname(credentialPath("name"));
}

async function modeOf(path: string): Promise<number | null> {
  const stats = await nullIfMissing(stat(path));
  return stats === null ? null : stats.mode & 0o777;
}

async function isReadable(path: string): Promise<boolean> {
  try {
    await access(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
