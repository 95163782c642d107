import { describe, expect, it } from "vitest";
import { bundleOf, LOG_NAME, restoreTestStatement, signStatement } from "../../test/receipt-fixture.ts";
import { ed25519Key, type TestKey, verifierOf } from "../../test/signing-keys.ts";
import { ProofError } from "../proof-error.ts";
import { cosignatureLine, cosignatureMessage } from "../notes/cosignature.ts";
import { noteSignatureLine, parseNote } from "../notes/note.ts";
import type { NoteVerifier } from "../notes/verifier-key.ts";
import type { ReceiptBundle } from "./bundle.ts";
import type { ReceiptCheck } from "./check.ts";
import { type ReceiptVerdict, verifyReceipt, type VerifyReceiptInput } from "./verify-receipt.ts";

const agent = await ed25519Key(1);
const log = await ed25519Key(3);
const statement = restoreTestStatement();
const envelope = await signStatement(statement, agent);
const bundle = await bundleOf({ statement, envelope, agent, log });
const trusted = { publicKey: agent.publicKey, logKey: verifierOf(log, LOG_NAME) };

const first = await ed25519Key(5);
const second = await ed25519Key(6);
const witness = (key: TestKey, name: string): NoteVerifier => verifierOf(key, name, "cosignature/v1");
const FIRST = witness(first, "agent_01jd3gqm3wey1s8p6x2n9d7v4c");
const SECOND = witness(second, "log.example.com/time");
const AT = 1_795_000_000;

async function line(key: TestKey, verifier: NoteVerifier, text: string, timestamp_s = AT): Promise<string> {
  return cosignatureLine(verifier, timestamp_s, await key.sign(cosignatureMessage(timestamp_s, text)));
}

const { text } = parseNote(bundle.checkpoint);
const byFirst = await line(first, FIRST, text);
const bySecond = await line(second, SECOND, text);
const withLines = (...lines: string[]): ReceiptBundle => ({
  ...bundle,
  checkpoint: bundle.checkpoint + lines.join(""),
});

type Witnesses = Pick<VerifyReceiptInput, "witnessKeys" | "requireWitnesses">;
const verify = (receipt: ReceiptBundle, witnesses: Witnesses): Promise<ReceiptVerdict> =>
  verifyReceipt({ bundle: receipt, ...trusted, ...witnesses });
const cosignatures = ({ checks }: ReceiptVerdict): ReceiptCheck | undefined =>
  checks.find(({ id }) => id === "cosignatures");

describe("cosignatures", () => {
  it("are not checked without a witness's key", async () => {
    const verdict = await verify(withLines(byFirst), {});
    expect(verdict.verdict).toBe("true");
    expect(cosignatures(verdict)).toBeUndefined();
  });

  it("are valid, and show the witness and the time", async () => {
    const verdict = await verify(withLines(byFirst, bySecond), { witnessKeys: [FIRST, SECOND] });
    expect(verdict.verdict).toBe("true");
    expect(cosignatures(verdict)).toMatchObject({
      result: "held",
      detail: `cosigned by ${FIRST.name} at 2026-11-18T11:06:40Z, ${SECOND.name} at 2026-11-18T11:06:40Z`,
    });
  });

  it.each<[string, string[], Witnesses, ReceiptVerdict["verdict"]]>([
    ["none of the one witness", [], { witnessKeys: [FIRST] }, "cannot_tell"],
    ["one of two, both asked for", [byFirst], { witnessKeys: [FIRST, SECOND] }, "cannot_tell"],
    ["one of two, one asked for", [byFirst], { witnessKeys: [FIRST, SECOND], requireWitnesses: 1 }, "true"],
    [
      "the same one twice",
      [byFirst, byFirst],
      { witnessKeys: [FIRST, SECOND], requireWitnesses: 2 },
      "cannot_tell",
    ],
    ["none, and none asked for", [], { witnessKeys: [FIRST], requireWitnesses: 0 }, "true"],
    [
      "more asked for than have keys",
      [byFirst],
      { witnessKeys: [FIRST], requireWitnesses: 2 },
      "cannot_tell",
    ],
    ["some asked for, and no key", [byFirst], { requireWitnesses: 1 }, "cannot_tell"],
    ["a stranger's besides", [bySecond, byFirst], { witnessKeys: [FIRST] }, "true"],
  ])("%s", async (_what, lines, witnesses, expected) => {
    const verdict = await verify(withLines(...lines), witnesses);
    expect(verdict.verdict).toBe(expected);
    expect(cosignatures(verdict)?.result).toBe(
      lines.length > 0 && expected === "true" ? "held" : "not_checked",
    );
  });

  it("make the receipt false if they are of another checkpoint, time or key, or are truncated", async () => {
    const plain = noteSignatureLine(FIRST, await first.sign(new TextEncoder().encode(text)));
    const [signed] = parseNote(`${text}\n${byFirst}`).signatures;
    if (signed === undefined) throw new Error("the line has a signature");
    const later = signed.signature.with(7, (signed.signature[7] ?? 0) ^ 1);
    for (const bad of [
      await line(first, FIRST, text.replace("\n11\n", "\n12\n")),
      await line(second, FIRST, text),
      plain,
      noteSignatureLine(FIRST, later),
    ]) {
      for (const requireWitnesses of [0, 1]) {
        const verdict = await verify(withLines(bad, bySecond), {
          witnessKeys: [FIRST, SECOND],
          requireWitnesses,
        });
        expect(verdict.verdict).toBe("false");
        expect(cosignatures(verdict)?.result).toBe("failed");
      }
    }
  });

  it("make the receipt false if any one bit is flipped", async () => {
    const [signed] = parseNote(`${text}\n${byFirst}`).signatures;
    if (signed === undefined) throw new Error("the line has a signature");
    for (let at = 0; at < signed.signature.length; at++) {
      const changed = signed.signature.with(at, (signed.signature[at] ?? 0) ^ 1);
      const verdict = await verify(withLines(noteSignatureLine(FIRST, changed)), { witnessKeys: [FIRST] });
      expect(verdict.verdict, `byte ${at}`).toBe("false");
    }
  });

  it("cannot be checked for an envelope without a bundle", async () => {
    const verdict = await verifyReceipt({ envelope, ...trusted, witnessKeys: [FIRST] });
    expect(verdict.verdict).toBe("cannot_tell");
    expect(cosignatures(verdict)?.detail).toContain("bundle");
  });

  it("cannot be checked with a log's key, which is a usage error", async () => {
    const asked = verify(withLines(byFirst), { witnessKeys: [trusted.logKey] });
    await expect(asked).rejects.toBeInstanceOf(ProofError);
    await expect(asked).rejects.toMatchObject({ code: "malformed_key" });
  });
});
