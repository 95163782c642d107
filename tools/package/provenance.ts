import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { sha256Of } from "./checksums.ts";
import { nodePackage } from "./node-binary.ts";
import { commitHere, type Release, REPOSITORY } from "./release.ts";

/**
 * Writes `<file>.provenance.json`, from what an artefact was built and how, and returns its name:
 * an in-toto Statement v1 with a SLSA provenance v1 predicate
 * (https://slsa.dev/spec/v1.0/provenance). It holds nothing of the machine or the moment of the
 * build, so that whoever builds the same commit gets the same bytes. SHA256SUMS lists it, and so
 * the release key signs it.
 */
export async function writeProvenance(file: string, release: Release): Promise<string> {
  const { name: nodeName, version, integrity } = nodePackage("amd64");
  const statement = {
    _type: "https://in-toto.io/Statement/v1",
    subject: [{ name: file, digest: { sha256: await sha256Of(join(release.out, file)) } }],
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: "https://attestore.dev/build/npm-run-package/v1",
        externalParameters: {
          version: release.version,
          source_date_epoch: release.epoch_s,
          compression: release.compression,
          release_key: release.releaseKey,
        },
        resolvedDependencies: [
          { name: "source", digest: { gitCommit: commitHere() } },
          {
            name: "package-lock.json",
            digest: { sha256: await sha256Of(join(REPOSITORY, "package-lock.json")) },
          },
          {
            name: nodeName,
            uri: `pkg:npm/${nodeName}@${version}`,
            digest: { sha512: integrity.toString("hex") },
          },
        ],
      },
      runDetails: { builder: { id: "https://attestore.dev/builder/by-hand/v1" } },
    },
  };
  const name = `${file}.provenance.json`;
  writeFileSync(join(release.out, name), `${JSON.stringify(statement, null, 2)}\n`);
  return name;
}
