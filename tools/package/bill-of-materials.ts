import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { sha256Of } from "./checksums.ts";
import { type LockedPackage, lockedPackage } from "./locked-package.ts";
import { nodePackage } from "./node-binary.ts";
import { libraries } from "./notices.ts";
import type { Architecture, Release } from "./release.ts";

/** A program in an artefact. */
export interface Contained {
  readonly program: string;
  readonly architecture: Architecture;
  /** The files that it was bundled from. */
  readonly modules: readonly string[];
}

/**
 * Writes `<file>.cdx.json`, what an artefact is made of, as CycloneDX 1.6
 * (https://cyclonedx.org/docs/1.6/json/), and returns its name. It lists what was bundled, which is
 * less than the lockfile names.
 */
export async function writeBillOfMaterials(
  file: string,
  { program, architecture, modules }: Contained,
  release: Release,
): Promise<string> {
  const described = {
    type: "application",
    "bom-ref": program,
    name: program,
    version: release.version,
    purl: `pkg:generic/${program}@${release.version}`,
    licenses: [{ license: { id: "Apache-2.0" } }],
    hashes: [{ alg: "SHA-256", content: await sha256Of(join(release.out, file)) }],
  };
  const packages = libraries(modules).map((directory) => lockedPackage(directory));
  const components = [
    { type: "platform", ...componentOf(nodePackage(architecture)) },
    ...packages.map((each) => ({ type: "library", ...componentOf(each) })),
  ];
  const bill = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { timestamp: new Date(release.epoch_s * 1000).toISOString(), component: described },
    components,
    dependencies: [{ ref: program, dependsOn: components.map((each) => each["bom-ref"]) }],
  };
  const name = `${file}.cdx.json`;
  writeFileSync(join(release.out, name), `${JSON.stringify(bill, null, 2)}\n`);
  return name;
}

function componentOf({ name, version, licence, integrity }: LockedPackage) {
  const [scope, plain] = name.startsWith("@") ? name.split("/") : [null, name];
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  return {
    "bom-ref": purl,
    ...(scope === null ? {} : { group: scope }),
    name: plain,
    version,
    purl,
    licenses: [{ expression: licence }],
    // Of the archive that npm got, as the lockfile has it.
    hashes: [{ alg: "SHA-512", content: integrity.toString("hex") }],
  };
}
