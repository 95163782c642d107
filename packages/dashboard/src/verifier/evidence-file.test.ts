import { formatPublicKeyPem, formatSshLine, formatVerifierKey, utf8 } from "@attestore/proof";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  bundleOf,
  LOG_NAME,
  restoreTestStatement,
  signStatement,
} from "../../../proof/test/receipt-fixture.ts";
import { ed25519Key, verifierOf } from "../../../proof/test/signing-keys.ts";
import { EvidenceError, readEvidence } from "./evidence-file.ts";

const agent = await ed25519Key(1);
const log = await ed25519Key(3);
const statement = restoreTestStatement();
const envelope = await signStatement(statement, agent);
const bundle = await bundleOf({ statement, envelope, agent, log });

describe("a file of evidence", () => {
  test.each([
    ["a bundle", JSON.stringify(bundle), "receipt"],
    ["an envelope", JSON.stringify(bundle.envelope), "receipt"],
    ["a bundle with white space around it", `\n ${JSON.stringify(bundle, null, 2)}\n`, "receipt"],
    ["a malformed bundle", JSON.stringify({ ...bundle, checkpoint: "" }), "malformed_receipt"],
    ["an agent's key in PEM", formatPublicKeyPem(agent.publicKey), "agent_key"],
    ["an agent's key for SSH", formatSshLine(agent.publicKey), "agent_key"],
    ["a log's key", `${formatVerifierKey(verifierOf(log, LOG_NAME))}\n`, "log_key"],
    ["a witness's key", formatVerifierKey(verifierOf(agent, "agent_1", "cosignature/v1")), "witness_key"],
    [
      "a list of agents' keys",
      `# ours\n${formatSshLine(agent.publicKey)}\n${formatSshLine(log.publicKey)}\n`,
      "key_list",
    ],
  ])("is recognised as %s", (_what, text, kind) => {
    expect(readEvidence("file", utf8(text)).kind).toBe(kind);
  });

  test.each([
    ["nothing", "", "empty"],
    ["white space", " \n", "empty"],
    ["prose", "milk, bread", "not_evidence"],
    ["other JSON", "{}", "not_evidence"],
    ["broken JSON", '{"envelope":', "not_evidence"],
    ["a member twice", '{"envelope":{},"envelope":{}}', "not_evidence"],
    ["a tlog-proof", "c2sp.org/tlog-proof@v1\nindex 1\n", "tlog_proof"],
    ["a Sigstore bundle", '{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json"}', "sigstore_bundle"],
    ["a list of keys with a line that is none", "org org_1\nmilk", "malformed_key"],
    ["a private key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", "malformed_key"],
    ["a verifier key with another hash", "log.example.com/org+00000000+AQAA", "malformed_key"],
    ["a small-order key for SSH", "ssh-ed25519 AAAA", "malformed_key"],
  ])("%s is refused with its own code", (_what, text, code) => {
    expect(() => readEvidence("file", utf8(text))).toThrow(expect.objectContaining({ code }) as Error);
  });

  test("a large file and a binary file are refused", () => {
    const refusal = (bytes: Uint8Array) => expect(() => readEvidence("file", bytes));
    refusal(new Uint8Array(600 * 1024)).toThrow(expect.objectContaining({ code: "too_large" }) as Error);
    refusal(Uint8Array.of(0xff, 0xfe)).toThrow(expect.objectContaining({ code: "not_text" }) as Error);
  });

  test("reading any input gives evidence or a refusal", () => {
    const cut = fc
      .tuple(
        fc.constantFrom(JSON.stringify(bundle), formatPublicKeyPem(agent.publicKey)),
        fc.nat(400),
        fc.string(),
      )
      .map(([text, at, more]) => utf8(text.slice(0, at) + more + text.slice(at + 3)));
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 300 }), cut), (bytes) => {
        try {
          expect(readEvidence("file", bytes).kind).toBeTypeOf("string");
        } catch (error) {
          expect(error).toBeInstanceOf(EvidenceError);
        }
      }),
      { numRuns: 500 },
    );
  });
});
