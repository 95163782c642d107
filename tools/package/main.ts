/**
 * `npm run package`: executables, packages and the installer, with checksums and a signature, into
 * dist/.
 *
 *   npm run package -- [--out DIR] [--arch amd64,arm64] [--minisign-key FILE] [--release-key KEY] [--fast]
 */
import { RELEASE_KEY } from "../../packages/contract/src/release-key.ts";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { buildRelease } from "./build-release.ts";
import { removeBuildState, writeBuildState } from "./build-state.ts";
import { architecturesOf, epochHere, REPOSITORY, versionHere } from "./release.ts";
import { type SigningKey, signingKey } from "./signature.ts";

const { values } = parseArgs({
  options: {
    out: { type: "string", default: join(REPOSITORY, "dist") },
    arch: { type: "string", default: "amd64" },
    "minisign-key": { type: "string" },
    "release-key": { type: "string" },
    fast: { type: "boolean", default: false },
  },
});

const architectures = architecturesOf(values.arch);
const release = {
  version: versionHere(),
  epoch_s: epochHere(process.env),
  out: resolve(values.out),
  compression: values.fast ? ("fast" as const) : ("best" as const),
  releaseKey: values["release-key"] ?? RELEASE_KEY,
};
// Two programs and two packages each.
const steps = 4 * architectures.length;
let step = 0;
let key: SigningKey;
try {
  key = signingKey(values["minisign-key"]);
  await buildRelease(release, architectures, key, (line) => {
    process.stdout.write(`${line}\n`);
    writeBuildState(release.out, { state: "building", step: ++step, steps, at: new Date().toISOString() });
  });
} catch (error) {
  writeBuildState(release.out, { state: "failed", at: new Date().toISOString() });
  throw error;
}
removeBuildState(release.out);
process.stdout.write(`\nattestore ${release.version} in ${release.out}\n`);
if (key.publicKey !== release.releaseKey)
  process.stdout.write(
    `Signed with ${key.file}, which is not the project's release key: hosts accept it only with\n  sh install.sh --release-key ${key.publicKey}\n`,
  );
