import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { REPOSITORY, versionHere } from "../package/release.ts";
import { compile } from "./compile.ts";

type Exports = Record<string, string>;
type Imports = Record<string, Record<string, string>>;

const NODE_AT_LEAST = 24;

/**
 * Makes the archives of `@attestore/proof` and `attestore-verify` as npm publishes them: JavaScript
 * with types, which need nothing of this repository. Returns their names in `out`.
 */
export function packForNpm(out: string): string[] {
  const scratch = mkdtempSync(join(tmpdir(), "attestore-npm-packages-"));
  try {
    compile(["proof", "verifier"], scratch);
    return [proof(scratch), verifier(scratch)].map((directory) => pack(directory, out));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function proof(scratch: string): string {
  const { exports, imports } = JSON.parse(
    readFileSync(join(REPOSITORY, "packages/proof/package.json"), "utf8"),
  ) as { exports: Exports; imports: Imports };
  return layOut(scratch, "proof", {
    name: "@attestore/proof",
    description: "Verifies Attestore's receipts, checkpoints and Merkle proofs, in Node and in browsers.",
    sideEffects: false,
    exports: Object.fromEntries(Object.entries(exports).map(([name, file]) => [name, typed(file)])),
    imports: typedImports(imports),
  });
}

function verifier(scratch: string): string {
  const version = versionHere();
  const { imports } = JSON.parse(
    readFileSync(join(REPOSITORY, "packages/verifier/package.json"), "utf8"),
  ) as { imports: Imports };
  const directory = layOut(scratch, "verifier", {
    name: "attestore-verify",
    description: "Checks offline whether a receipt of Attestore is true and in the log.",
    bin: { "attestore-verify": "bin/attestore-verify.js" },
    exports: { ".": typed("./src/run.ts") },
    imports: typedImports(imports),
    dependencies: { "@attestore/proof": version },
  });
  mkdirSync(join(directory, "bin"));
  const bin = join(directory, "bin/attestore-verify.js");
  writeFileSync(
    bin,
    `#!/usr/bin/env node
// A Node too old for the program says so and exits 2: 1 would call a receipt false.
try {
  if (Number.parseInt(process.versions.node) < ${NODE_AT_LEAST})
    throw new Error(\`it needs Node ${NODE_AT_LEAST}, but this is \${process.version}\`);
  await import("../src/main.js");
} catch (error) {
  process.stderr.write(\`attestore-verify cannot start: \${error instanceof Error ? error.message : String(error)}\\n\`);
  process.exitCode = 2;
}
`,
  );
  chmodSync(bin, 0o755);
  return directory;
}

function typedImports(imports: Imports): object {
  return Object.fromEntries(
    Object.entries(imports).map(([name, conditions]) => [
      name,
      Object.fromEntries(Object.entries(conditions).map(([condition, file]) => [condition, typed(file)])),
    ]),
  );
}

/** A package's directory with what has no part in its kind. */
function layOut(scratch: string, name: string, manifest: object): string {
  const directory = join(scratch, "packages", name);
  mkdirSync(directory, { recursive: true });
  cpSync(join(scratch, name, "src"), join(directory, "src"), { recursive: true });
  copyFileSync(join(REPOSITORY, "LICENSE"), join(directory, "LICENSE"));
  copyFileSync(join(REPOSITORY, "packages", name, "README.md"), join(directory, "README.md"));
  const whole = {
    version: versionHere(),
    license: "Apache-2.0",
    type: "module",
    engines: { node: `>=${NODE_AT_LEAST}` },
    files: ["src", "bin"],
    publishConfig: { access: "public" },
    ...manifest,
  };
  writeFileSync(join(directory, "package.json"), `${JSON.stringify(whole, null, 2)}\n`);
  return directory;
}

function typed(file: string): { types: string; default: string } {
  return { types: file.replace(/\.ts$/, ".d.ts"), default: file.replace(/\.ts$/, ".js") };
}

function pack(directory: string, out: string): string {
  const printed = execFileSync("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", out], {
    cwd: directory,
    encoding: "utf8",
  });
  const answer = JSON.parse(printed) as { filename: string }[] | Record<string, { filename: string }>;
  const [packed] = Object.values(answer);
  if (packed === undefined) throw new Error(`npm pack created nothing from ${directory}`);
  return packed.filename;
}
