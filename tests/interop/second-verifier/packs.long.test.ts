import { spawnSync } from "node:child_process";
import { createHash, sign } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  cosignatureLine,
  cosignatureMessage,
  type EventBundle,
  formatPublicKeyPem,
  formatVerifierKey,
  noteVerifier,
  parseNote,
  parsePublicKeyWire,
  parseVerifierKey,
  type ReceiptBundle,
  sshFingerprint,
} from "@attestore/proof";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FORGERIES } from "../../e2e/harness/forgeries.ts";
import {
  editJson,
  type Files,
  filesOf,
  makeOrganisation,
  type Organisation,
  save,
  withManifest,
  writeZip,
} from "../../e2e/harness/packs.ts";
import { signedEventBody } from "../../../packages/orchestrator/test/log/signed-event.ts";
import type { PinnedKey } from "../../../packages/verifier/src/pinned-key.ts";
import { verifyPackFile } from "../../../packages/verifier/src/pack/verify-pack-file.ts";

/**
 * The verifier that was written from the documents alone, in another language, against packs of a
 * running service and ours beside it.
 */
const here = fileURLToPath(new URL(".", import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "attestore-second-packs-"));
const file = (name: string): string => join(directory, name);
let organisation: Organisation;
let good: Files;

beforeAll(async () => {
  organisation = await makeOrganisation();
  // After its last receipt the agent reports what it signs, and then makes nothing more.
  const { rotated, history } = organisation;
  const files = await packedFiles("before.zip");
  const last = [...files]
    .filter(([path]) => path.startsWith("receipts/"))
    .map(([, bytes]) => JSON.parse(String(bytes)) as ReceiptBundle)
    .toSorted((a, b) => b.inclusion_proof.log_index - a.inclusion_proof.log_index)[0];
  const { body } = signedEventBody(
    rotated,
    {
      kind: "restore_failed",
      source_id: history.sourceId,
      occurred_at: new Date().toISOString(),
      detail: { reason: "no space left", ratio: 0.1, large: 1e21, small: 1e-7, whole: 1.0 },
    },
    { previous_receipt_sha256: last?.leaf.body_sha256 ?? null },
  );
  const answer = await rotated.post("/v1/events", body);
  expect(answer.status, String(answer.body)).toBe(201);
  good = await packedFiles("good.zip");
  expect([...good.values()].some(isSigned)).toBe(true);
  await save(file("log.vkey"), Buffer.from(`${organisation.agent.log.verifier_key}\n`));
  await save(file("agent.pub"), Buffer.from(formatPublicKeyPem(key().publicKey)));
});
afterAll(async () => {
  await organisation.close();
  rmSync(directory, { recursive: true });
});

function isSigned(bytes: Buffer): boolean {
  return bytes.includes('"event":') && bytes.includes('"envelope":');
}

async function packedFiles(name: string): Promise<Files> {
  await save(file(name), await organisation.pack());
  return filesOf(file(name));
}

/** The first key of the agent; the pack has the rotation to the next. */
function key(): PinnedKey {
  const publicKey = parsePublicKeyWire(organisation.agent.publicKeyWire);
  const source = { kind: "file", where: "agent.pub" } as const;
  return { publicKey, fingerprint: sshFingerprint(publicKey), agentId: null, since: null, source };
}

async function forged(name: string, files: Files): Promise<string> {
  const { signer } = organisation.service;
  await writeZip(file(name), await withManifest(files, (origin, text) => signer.signText(origin, text)));
  return file(name);
}

const VERDICTS: readonly string[] = ["true", "false", "cannot_tell"];

/**
 * What the second verifier says of each of these, in one process: starting Python takes longer than
 * a signature.
 */
function second(cases: readonly string[][]): { verdict: string | undefined; said: string }[] {
  const script = `
import contextlib, io, json, sys, verify
for one in json.load(open(sys.argv[1])):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        status = verify.main(*one)
    print(json.dumps([status, said.getvalue().strip()]))
`;
  writeFileSync(file("cases.json"), JSON.stringify(cases));
  const { status, stdout, stderr } = spawnSync("python3", ["-B", "-c", script, file("cases.json")], {
    cwd: here,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  expect(status, stderr).toBe(0);
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as [number, string])
    .map(([code, said]) => ({ verdict: VERDICTS[code], said }));
}

const ours = async (path: string): Promise<string> => {
  const logKey = parseVerifierKey(organisation.agent.log.verifier_key);
  return (await verifyPackFile(path, { logKey, keys: [key()] })).verdict;
};

test("bundles that a running service gives out are true, under the key that each was signed with", async () => {
  const { owner, rotated } = organisation;
  await save(file("next.pub"), Buffer.from(formatPublicKeyPem(parsePublicKeyWire(rotated.publicKeyWire))));
  const ids = [...good.keys()].flatMap((path) => /^receipts\/(.*)\.json$/.exec(path)?.[1] ?? []);
  expect(ids.length).toBeGreaterThan(6);
  const cases: string[][] = [];
  for (const id of ids) {
    const { status, body } = await owner.get(`/api/receipts/${id}/bundle`);
    expect(status).toBe(200);
    cases.push([await save(file(`${id}.json`), body), file("log.vkey"), file("agent.pub"), file("next.pub")]);
  }
  for (const { verdict, said } of second(cases)) expect(verdict, said).toBe("true");
});

test('real packs, with a rotated key and signed events, are true for both; without a key both say "cannot tell"', async () => {
  const now = await save(file("now.zip"), await organisation.pack(`from=${new Date().toISOString()}`));
  const given = [file("log.vkey"), file("agent.pub")];
  const [whole, unkeyed, empty] = second([
    [file("good.zip"), ...given],
    [file("good.zip"), file("log.vkey")],
    [now, ...given],
  ]);
  expect(whole?.verdict, whole?.said).toBe("true");
  expect(await ours(file("good.zip"))).toBe("true");
  expect(unkeyed?.verdict, unkeyed?.said).toBe("cannot_tell");
  expect(empty?.verdict, empty?.said).toBe(await ours(now));
});

test("a witness that cosigned counts, and one that did not leaves it open", async () => {
  const { rotated } = organisation;
  const { text } = parseNote(good.get("log/checkpoint") ?? new Uint8Array());
  const { bytes } = parsePublicKeyWire(rotated.publicKeyWire);
  const witness = noteVerifier(rotated.id, "cosignature/v1", bytes);
  const at = 1_795_000_000;
  const line = cosignatureLine(witness, at, sign(null, cosignatureMessage(at, text), rotated.privateKey));
  const checkpoint = `${String(good.get("log/checkpoint"))}${line}`;
  const files = new Map(good).set("log/checkpoint", Buffer.from(checkpoint));
  for (const path of good.keys())
    if (/^(receipts|events)\//.test(path))
      editJson<ReceiptBundle | EventBundle>(files, path, (bundle) => {
        bundle.checkpoint = checkpoint;
      });
  const cosigned = await forged("cosigned.zip", files);
  await save(file("witness.vkey"), Buffer.from(`${formatVerifierKey(witness)}\n`));
  const given = [file("log.vkey"), file("agent.pub"), `+${file("witness.vkey")}`];
  const answers = second([
    [cosigned, ...given],
    [file("good.zip"), ...given],
  ]);
  expect(answers.map(({ verdict }) => verdict)).toEqual(["true", "cannot_tell"]);
});

/** Only the page cannot be made again from the documents. */
const OURS_ALONE: readonly string[] = ["the page says something else"];

test("both say the same about damaged packs", async () => {
  const paths: [string, string][] = [];
  for (const [n, [what, , forge]] of FORGERIES.entries()) {
    const files = new Map(good);
    forge(files);
    paths.push([what, await forged(`forged-${n}.zip`, files)]);
  }
  // As somebody who has only the file: a byte of every file changed, and every file taken out.
  for (const [n, [path, bytes]] of [...good].entries()) {
    const changed = Buffer.from(bytes);
    const at = Math.floor(bytes.length / 2);
    changed[at] = (changed[at] ?? 0) ^ 1;
    await writeZip(file(`byte-${n}.zip`), new Map(good).set(path, changed));
    const fewer = new Map(good);
    fewer.delete(path);
    await writeZip(file(`without-${n}.zip`), fewer);
    paths.push([`a byte of ${path}`, file(`byte-${n}.zip`)], [`without ${path}`, file(`without-${n}.zip`)]);
  }
  // A pack that a later version wrote is never called false.
  for (const name of ["policy.json", "keys/agents.json", "log/range.json"]) {
    const files = new Map(good);
    editJson<{ v: number }>(files, name, (value) => {
      value.v = 2;
    });
    const more = new Map(good);
    editJson<object>(more, name, (value) => Object.assign(value, { more: 1 }));
    const sha = createHash("sha256").update(name).digest("hex").slice(0, 8);
    paths.push([`version 2 of ${name}`, await forged(`v2-${sha}.zip`, files)]);
    paths.push([`more in ${name}`, await forged(`more-${sha}.zip`, more)]);
  }
  const answers = second(paths.map(([, path]) => [path, file("log.vkey"), file("agent.pub")]));
  expect(answers).toHaveLength(paths.length);
  const verdicts = new Set<string>();
  for (const [n, [what, path]] of paths.entries()) {
    if (OURS_ALONE.includes(what)) continue;
    const verdict = await ours(path);
    verdicts.add(verdict);
    expect(answers[n]?.verdict, `${what}: ${answers[n]?.said}`).toBe(verdict);
  }
  expect([...verdicts].toSorted()).toEqual(["cannot_tell", "false", "true"]);
});
