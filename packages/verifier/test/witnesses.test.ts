import {
  cosignatureLine,
  cosignatureMessage,
  formatVerifierKey,
  parseNote,
  type ReceiptBundle,
} from "@attestore/proof";
import { afterAll, expect, it } from "vitest";
import { ed25519Key, type TestKey, verifierOf } from "../../proof/test/signing-keys.ts";
import { attestoreVerify, report } from "./cli.ts";
import { usualEvidence, vkey } from "./evidence.ts";

const { files, bundle, envelope, key } = await usualEvidence();
afterAll(() => {
  files.remove();
});

const first = await ed25519Key(5);
const second = await ed25519Key(6);
const FIRST = verifierOf(first, "agent_01jd3gqm3wey1s8p6x2n9d7v4c", "cosignature/v1");
const SECOND = verifierOf(second, "agent_01jd3gqm3wey1s8p6x2n9d7v4d", "cosignature/v1");
const firstKey = formatVerifierKey(FIRST);
const secondKey = files.write("second.vkey", `${formatVerifierKey(SECOND)}\n`);

async function cosigned(signer: TestKey, verifier = FIRST): Promise<ReceiptBundle> {
  const { text } = parseNote(bundle.checkpoint);
  const signature = await signer.sign(cosignatureMessage(1_795_000_000, text));
  return {
    ...bundle,
    checkpoint: bundle.checkpoint + cosignatureLine(verifier, 1_795_000_000, signature),
  };
}

const seen = files.writeJson("seen.json", await cosigned(first));
const forged = files.writeJson("forged.json", await cosigned(second));
const unseen = files.writeJson("unseen.json", bundle);
const keys = ["--key", key, "--log-key", vkey];

it.each<[string, string[], string, string]>([
  ["by the witness asked for", [seen, "--witness-key", firstKey], "true", "held"],
  ["by nobody", [unseen, "--witness-key", firstKey], "cannot_tell", "not_checked"],
  [
    "by one of two",
    [seen, "--witness-key", firstKey, "--witness-key", secondKey],
    "cannot_tell",
    "not_checked",
  ],
  [
    "by one of two, which is enough",
    [seen, "--witness-key", firstKey, "--witness-key", secondKey, "--witnesses", "1"],
    "true",
    "held",
  ],
  ["by another in its name", [forged, "--witness-key", firstKey], "false", "failed"],
  [
    "in an envelope, which has no checkpoint",
    [envelope, "--witness-key", firstKey],
    "cannot_tell",
    "not_checked",
  ],
])("cosigned %s", async (_what, args, verdict, result) => {
  const answer = await report([...args, ...keys]);
  expect(answer.verdict).toBe(verdict);
  expect(answer.receipts[0]?.checks.find(({ id }) => id === "cosignatures")?.result).toBe(result);
});

it("a cosignature is shown to people with its witness and its time", async () => {
  const { stdout } = await attestoreVerify([seen, ...keys, "--witness-key", firstKey]);
  expect(stdout).toContain(`cosigned by ${FIRST.name} at 2026-11-18T11:06:40Z`);
});
