/**
 * A token of SoftHSM's in a directory of its own, for tests.
 *
 *   const hsm = await createTestToken();      // also sets SOFTHSM2_CONF in this process
 *   new Token({ module: hsm.module, pin: hsm.pin });
 *   hsm.uri("log");                           // pkcs11:token=attestore;object=log
 *   await hsm.remove();
 */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

export interface TestToken {
  module: string;
  pin: string;
  /** Variables that the module needs. */
  environment: { SOFTHSM2_CONF: string };
  uri(object: string): string;
  /** As if it were unplugged, and plugged in again. */
  unplug(): Promise<void>;
  plugIn(): Promise<void>;
  remove(): Promise<void>;
}

const MODULE = "/usr/lib/softhsm/libsofthsm2.so";

export async function createTestToken(): Promise<TestToken> {
  const directory = await mkdtemp(join(tmpdir(), "attestore-token-"));
  const tokens = join(directory, "tokens");
  const configuration = join(directory, "softhsm2.conf");
  await mkdir(tokens);
  await writeFile(
    configuration,
    `directories.tokendir = ${tokens}\nobjectstore.backend = file\nlog.level = ERROR\n`,
  );
  const environment = { SOFTHSM2_CONF: configuration };
  process.env["SOFTHSM2_CONF"] = configuration;
  const label = ["--free", "--label", "attestore", "--pin", "1234", "--so-pin", "5678"];
  await promisify(execFile)("softhsm2-util", ["--init-token", ...label]);
  return {
    module: MODULE,
    pin: "1234",
    environment,
    uri: (object) => `pkcs11:token=attestore;object=${object}`,
    unplug: () => rename(tokens, `${tokens}.away`),
    plugIn: () => rename(`${tokens}.away`, tokens),
    remove: () => rm(directory, { recursive: true }),
  };
}
