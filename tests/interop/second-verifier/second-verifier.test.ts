import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { formatPublicKeyPem, formatSshLine, formatVerifierKey, type ReceiptBundle } from "@attestore/proof";
import { afterAll, expect, it } from "vitest";
import {
  backupStatement,
  bundleOf,
  LOG_NAME,
  restoreTestStatement,
  signStatement,
} from "../../../packages/proof/test/receipt-fixture.ts";
import { everyMemberRemoved, everyValueChanged } from "../../../packages/proof/test/changes.ts";
import { ed25519Key, p256Key, verifierOf } from "../../../packages/proof/test/signing-keys.ts";

/**
 * A verifier that was written from docs/formats.md alone, in another language, against what ours
 * makes.
 */
const here = fileURLToPath(new URL(".", import.meta.url));
const vectors = fileURLToPath(
  new URL("../../../packages/proof/test/signature-vectors.json", import.meta.url),
);
const scratch = mkdtempSync(join(tmpdir(), "attestore-second-"));
afterAll(() => {
  rmSync(scratch, { recursive: true });
});

function python(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const { error, status, stdout, stderr } = spawnSync("python3", ["-B", ...args], {
    cwd: here,
    encoding: "utf8",
  });
  if (error) throw error;
  return { status, stdout, stderr };
}

const log = await ed25519Key(3);
const file = (name: string, content: string): string => {
  writeFileSync(join(scratch, name), content);
  return join(scratch, name);
};
const vkey = file("log.vkey", `${formatVerifierKey(verifierOf(log, LOG_NAME))}\n`);
const agents = { ed25519: await ed25519Key(1), p256: await p256Key() };
const keys = [
  file("ed25519.pub", formatPublicKeyPem(agents.ed25519.publicKey)),
  file("p256.pub", `${formatSshLine(agents.p256.publicKey)} agent@host\n`),
];

const verify = (bundle: unknown, given = keys): ReturnType<typeof python> =>
  python("verify.py", file("rcpt.json", JSON.stringify(bundle)), vkey, ...given);

async function made(
  statement: ReturnType<typeof restoreTestStatement> | ReturnType<typeof backupStatement>,
  agent = agents.ed25519,
): Promise<ReceiptBundle> {
  const envelope = await signStatement(statement, agent);
  return bundleOf({ statement, envelope, agent, log });
}

it("accepts our bundles, with both kinds of keys", async () => {
  for (const agent of Object.values(agents)) {
    expect(verify(await made(restoreTestStatement(), agent)).stdout).toBe("TRUE passed leaf 5 of 11\n");
    expect(verify(await made(backupStatement(), agent)).stdout).toBe("TRUE made leaf 5 of 11\n");
  }
});

it("accepts the URL-safe alphabet, and cannot tell without the agent's key", async () => {
  const bundle = await made(restoreTestStatement());
  const other = (text: string): string => text.replaceAll("+", "-").replaceAll("/", "_");
  const [signature] = bundle.envelope.signatures;
  const urlSafe = structuredClone(bundle);
  urlSafe.envelope.payload = other(bundle.envelope.payload);
  urlSafe.envelope.signatures[0].sig = other(signature.sig);
  expect(verify(urlSafe).status).toBe(0);
  expect(verify(bundle, keys.slice(1))).toMatchObject({ status: 2 });
});

it("refuses every bundle with something changed or missing in leaf, proof or envelope", async () => {
  const bundle = await made(restoreTestStatement());
  const changed = (["leaf", "inclusion_proof", "envelope"] as const).flatMap((part) =>
    [...everyValueChanged(bundle[part]), ...everyMemberRemoved(bundle[part])].map(({ path, value }) => ({
      path: `${part}${path}`,
      bundle: { ...bundle, [part]: value },
    })),
  );
  // One process for all of them: starting Python takes longer than a signature.
  const script = `
import contextlib, io, json, sys, verify
for one in json.load(open(sys.argv[1])):
    with open(sys.argv[2], "w") as out:
        json.dump(one["bundle"], out)
    with contextlib.redirect_stdout(io.StringIO()):
        status = verify.main(sys.argv[2], *sys.argv[3:])
    print(status, one["path"])
`;
  const all = file("changed.json", JSON.stringify([{ path: "none", bundle }, ...changed]));
  const { status, stdout, stderr } = python("-c", script, all, join(scratch, "one.json"), vkey, ...keys);
  expect(status, stderr).toBe(0);
  const lines = stdout.trimEnd().split("\n");
  expect(lines).toHaveLength(changed.length + 1);
  expect(changed.length).toBeGreaterThan(20);
  expect(lines.filter((line) => line.startsWith("0 "))).toEqual(["0 none"]);
});

it("agrees with the shared vectors about signatures and keys", () => {
  const script = `
import json, sys, verify
vectors = json.load(open(sys.argv[1]))
def holds(check):
    try:
        check()
        return True
    except verify.False_:
        return False
data = bytes.fromhex
for one in vectors["signatures"]:
    said = holds(lambda: verify.ed25519(data(one["key"]), data(one["message"]), data(one["signature"])))
    assert said == one["holds"], one["name"]
for one in vectors["refused_keys"] + vectors["refused_p256_keys"]:
    assert not holds(lambda: verify.key(data(one["key"]))), one["name"]
print(len(vectors["signatures"]), "signatures")
`;
  const { status, stdout, stderr } = python("-c", script, vectors);
  expect(status, stderr).toBe(0);
  expect(stdout).toMatch(/^1\d signatures\n$/);
});
