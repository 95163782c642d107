import { X509Certificate } from "node:crypto";
import { constants } from "node:fs";
import { access, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "@attestore/host/errno";
import { replaceFile, syncDirectory } from "@attestore/host/durable-files";
import { nullIfMissing } from "@attestore/host/null-if-missing";
import { UserError } from "../errors/user-error.ts";
import { runProgram } from "../postgres/run-program.ts";

/** As Debian and its relatives have it. */
const DIRECTORY = "/usr/local/share/ca-certificates";
const UPDATE = "/usr/sbin/update-ca-certificates";
const MAX_CERTIFICATE = 64 * 1024;

/** A certificate authority, and its place in the system's trust store if it is there. */
export interface SystemAuthority {
  readonly certificate: X509Certificate;
  readonly file: string;
}

/**
 * Reads a certificate that somebody other than root may have written, and that root copies where
 * everybody may read it: only a certificate authority's own certificate gets there.
 * @throws UserError
 */
export async function readAuthority(caFile: string): Promise<SystemAuthority> {
  const text = await nullIfMissing(smallFile(caFile));
  if (text === null)
    throw new UserError(
      "certificate",
      `There is no ${caFile} yet: the service makes it on its first start. If the service's data is elsewhere, name it with ATTESTORE_DATA.`,
    );
  const certificate = parsed(text);
  if (certificate?.ca !== true)
    throw new UserError("certificate", `${caFile} is not the certificate of a certificate authority.`);
  const name = certificate.fingerprint256.replaceAll(":", "").slice(0, 16).toLowerCase();
  return { certificate, file: join(DIRECTORY, `attestore-${name}.crt`) };
}

/**
 * Has the system's programs trust the authority. False if they did already. If the system refuses,
 * everything is as before.
 * @throws UserError
 */
export async function trustAuthority({ certificate, file }: SystemAuthority): Promise<boolean> {
  await requireUpdate();
  const before = await nullIfMissing(smallFile(file));
  if (before !== null && parsed(before)?.fingerprint256 === certificate.fingerprint256) {
    // An earlier call may have ended between the two steps.
    await updateStore();
    return false;
  }
  await replaceFile(file, certificate.toString(), { mode: 0o644 });
  try {
    await updateStore();
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  }
  return true;
}

/**
 * Has the system's programs trust it no longer. False if they did not.
 * @throws UserError
 */
export async function distrustAuthority({ file }: SystemAuthority): Promise<boolean> {
  await requireUpdate();
  const wasThere = await rm(file).then(
    () => true,
    (error: unknown) => {
      if (errorCode(error) === "ENOENT") return false;
      throw error;
    },
  );
  if (wasThere) await syncDirectory(DIRECTORY);
  // Otherwise links to the file that is gone would stay.
  await updateStore(["--fresh"]);
  return wasThere;
}

function parsed(text: string): X509Certificate | null {
  try {
    return new X509Certificate(text);
  } catch {
    return null;
  }
}

/** Of a file that may be a pipe or without end. @throws UserError */
async function smallFile(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const found = await file.stat();
    if (!found.isFile() || found.size > MAX_CERTIFICATE)
      throw new UserError("certificate", `${path} is not a certificate's file.`);
    return await file.readFile("latin1");
  } finally {
    await file.close();
  }
}

async function requireUpdate(): Promise<void> {
  try {
    await access(UPDATE, constants.X_OK);
  } catch {
    throw new UserError(
      "certificate",
      `This system has no ${UPDATE}. On Debian and its relatives: apt-get install ca-certificates. On others, import the certificate as the system's documentation says.`,
    );
  }
}

async function updateStore(args: string[] = []): Promise<void> {
  const { exitCode, stderr } = await runProgram(UPDATE, args, {
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" },
  });
  if (exitCode === 0) return;
  const said = stderr.trim().slice(-1000);
  throw new UserError(
    "certificate",
    `${UPDATE} failed${said === "" ? "" : `: ${said}`}. Run it again as root.`,
  );
}
