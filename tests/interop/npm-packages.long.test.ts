import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { restoreTestStatement } from "../../packages/proof/test/receipt-fixture.ts";
import { signed, usualEvidence, vkey } from "../../packages/verifier/test/evidence.ts";
import { packForNpm } from "../../tools/npm/packages.ts";

const ROOT = join(import.meta.dirname, "../..");

/** Somebody's project: a directory with nothing of ours but what they installed from npm. */
const project = mkdtempSync(join(tmpdir(), "attestore-npm-user-"));
const evidence = await usualEvidence();

beforeAll(() => {
  const archives = packForNpm(project);
  write("package.json", JSON.stringify({ name: "somebodys", private: true, type: "module" }));
  execFileSync(
    "npm",
    ["install", "--offline", "--ignore-scripts", "--no-audit", ...archives.map((n) => `./${n}`)],
    {
      cwd: project,
      stdio: "pipe",
    },
  );
});
afterAll(() => {
  rmSync(project, { recursive: true, force: true });
  evidence.files.remove();
});

function write(name: string, text: string): void {
  writeFileSync(join(project, name), text);
}

/** Node as it runs JavaScript alone. */
function node(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, ["--no-strip-types", ...args], {
    cwd: project,
    encoding: "utf8",
    env: { PATH: process.env["PATH"] },
  });
}

test("@attestore/proof agrees with the published vectors of Merkle proofs", () => {
  cpSync(join(ROOT, "packages/proof/test/vectors/merkle/inclusion.json"), join(project, "inclusion.json"));
  write(
    "vectors.js",
    `import { readFileSync } from "node:fs";
     import { fromBase64, ProofError, verifyInclusion } from "@attestore/proof";
     import { plainLine } from "@attestore/proof/plain-text";
     const cases = JSON.parse(readFileSync("inclusion.json", "utf8"), (_, value, { source }) =>
       typeof value === "number" ? BigInt(source) : value);
     let agree = 0;
     for (const { leafIdx, treeSize, leafHash, root, proof, wantErr } of cases) {
       let isRefused = false;
       try {
         verifyInclusion({ leafIndex: leafIdx, treeSize, leafHash: fromBase64(leafHash), rootHash: fromBase64(root),
           hashes: (proof ?? []).map((hash) => fromBase64(hash)) });
       } catch (error) {
         if (!(error instanceof ProofError)) throw error;
         isRefused = true;
       }
       if (isRefused === wantErr) agree += 1;
     }
     console.log(plainLine(JSON.stringify({ cases: cases.length, agree })));`,
  );
  const { stdout, stderr } = node("vectors.js");
  expect(stderr).toBe("");
  const { cases, agree } = JSON.parse(stdout) as { cases: number; agree: number };
  expect(cases).toBeGreaterThan(90);
  expect(agree).toBe(cases);
});

test("attestore-verify distinguishes a true receipt from a false one", async () => {
  const { passed, key } = evidence;
  const verify = "node_modules/attestore-verify/bin/attestore-verify.js";
  const keys = ["--key", key, "--log-key", vkey];
  expect(node(verify, passed, ...keys)).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^TRUE/) as string,
  });
  const { bundle } = await signed(restoreTestStatement());
  const payload = Buffer.from(JSON.stringify({ ...restoreTestStatement(), subject: [] }));
  const envelope = bundle.envelope as { payload: string };
  const forged = { ...bundle, envelope: { ...envelope, payload: payload.toString("base64") } };
  const file = evidence.files.writeJson("forged.json", forged);
  expect(node(verify, file, ...keys).status).toBe(1);
  expect(
    spawnSync("npx", ["--no-install", "attestore-verify", "--version"], { cwd: project, encoding: "utf8" })
      .stdout,
  ).toMatch(/^\S*\s?\d+\.\d+\.\d+/);
  write(
    "library.js",
    `import { run } from "attestore-verify"; process.exitCode = await run(process.argv.slice(2));`,
  );
  expect(node("library.js", passed, ...keys).status).toBe(0);
});

test("both packages have types that a strict project compiles", () => {
  mkdirSync(join(project, "node_modules/@types"), { recursive: true });
  for (const name of ["node", "../undici-types"])
    symlinkSync(join(ROOT, "node_modules/@types", name), join(project, "node_modules/@types", name));
  const source = (index: string): string => `import { verifyInclusion, type Hash } from "@attestore/proof";
     import { run } from "attestore-verify";
     const hash: Hash = new Uint8Array(32);
     verifyInclusion({ leafIndex: ${index}, treeSize: 1n, leafHash: hash, rootHash: hash, hashes: [] });
     export const code: Promise<0 | 1 | 2> = run([]);`;
  const types = (): string =>
    spawnSync(
      join(ROOT, "node_modules/.bin/tsc"),
      ["--strict", "--noEmit", "--module", "nodenext", "--target", "es2024", "--types", "node", "use.ts"],
      { cwd: project, encoding: "utf8" },
    ).stdout;
  write("use.ts", source("0n"));
  expect(types()).toBe("");
  write("use.ts", source('"none"'));
  expect(types()).toContain("TS2322");
});
