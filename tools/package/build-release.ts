import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readPackaging, UNITS } from "./artefact-tree.ts";
import { bundle, type Bundle } from "./bundle.ts";
import { writeChecksums } from "./checksums.ts";
import { makeDeb } from "./deb.ts";
import { makeExecutable } from "./executable.ts";
import { nodeBinary } from "./node-binary.ts";
import { licenceNotices } from "./notices.ts";
import { writeBillOfMaterials } from "./bill-of-materials.ts";
import { writeProvenance } from "./provenance.ts";
import { type Architecture, type Release, REPOSITORY } from "./release.ts";
import { makeRpm } from "./rpm.ts";
import { sign, type SigningKey } from "./signature.ts";

/** Entry modules of the programs that ship as one file. */
const PROGRAMS = {
  attestore: "packages/agent/src/single-executable.ts",
  "attestore-verify": "packages/verifier/src/main.ts",
} as const;

/**
 * Of Node. The verifier reads receipt after receipt and keeps hardly anything of them: without this
 * limit V8 lets a hundred megabytes of them come together before it collects them.
 */
const OPTIONS: Record<keyof typeof PROGRAMS, readonly string[]> = {
  attestore: [],
  "attestore-verify": ["--max-semi-space-size=4"],
};

type Say = (line: string) => void;

/**
 * Builds everything that a release consists of into `release.out`, which must not hold anything
 * else.
 *
 * @param more writes further files into that directory and returns their names; the signature
 *   covers them too
 */
export async function buildRelease(
  release: Release,
  architectures: readonly Architecture[],
  key: SigningKey,
  say: Say,
  more: (directory: string) => readonly string[] = () => [],
): Promise<void> {
  const { out } = release;
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  // Beside the artefacts, so that finished ones are renamed into place.
  const scratch = mkdtempSync(join(out, ".build-"));
  try {
    const agent = await bundle(join(REPOSITORY, PROGRAMS.attestore), release.releaseKey);
    const verifier = await bundle(join(REPOSITORY, PROGRAMS["attestore-verify"]), release.releaseKey);
    const notices = licenceNotices([...agent.modules, ...verifier.modules]);
    // First, since it takes seconds to see that it cannot be done, and a minute to make the rest.
    const names = [...more(out), "LICENCES.txt"];
    writeFileSync(join(out, "LICENCES.txt"), notices);
    for (const architecture of architectures) {
      const node = nodeBinary(architecture, scratch);
      const programs: [keyof typeof PROGRAMS, Bundle][] = [
        ["attestore", agent],
        ["attestore-verify", verifier],
      ];
      for (const [name, { code, modules }] of programs) {
        const file = `${name}-linux-${architecture}`;
        say(file);
        const options = OPTIONS[name];
        makeExecutable({ name, code, architecture, node, options }, join(out, file), scratch);
        names.push(file, await writeBillOfMaterials(file, { program: name, architecture, modules }, release));
      }
      const executable = join(out, `attestore-linux-${architecture}`);
      for (const make of [makeDeb, makeRpm]) {
        const file = make(executable, notices, architecture, release, scratch);
        say(file);
        names.push(
          file,
          await writeBillOfMaterials(
            file,
            { program: "attestore", architecture, modules: agent.modules },
            release,
          ),
        );
      }
    }
    // For hosts with neither dpkg nor rpm.
    for (const [from, to] of [
      // Such a name is one that every server serves.
      ...UNITS.map((unit) => [unit, unit.replace("@", "")] as const),
      ["attestore-sandbox.tmpfiles", "attestore-sandbox.tmpfiles"],
      ["migrate.sh", "attestore-migrate.sh"],
    ] as const) {
      copyFileSync(join(REPOSITORY, "packaging", from), join(out, to));
      chmodSync(join(out, to), 0o644);
      names.push(to);
    }
    writeFileSync(
      join(out, "install.sh"),
      readPackaging("install.sh").replace("@RELEASE_KEY@", release.releaseKey ?? ""),
    );
    names.push("install.sh");
    for (const name of names.filter((each) => !each.endsWith(".cdx.json")))
      names.push(await writeProvenance(name, release));
    writeFileSync(join(out, "minisign.pub"), `untrusted comment: attestore releases\n${key.publicKey}\n`);
    // Last: with the signature a service begins to offer what is here.
    sign(await writeChecksums(out, names), key, `attestore ${release.version}`);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
