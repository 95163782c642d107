import { describe, expect, it } from "vitest";
import { ed25519Key, p256Key } from "../../test/signing-keys.ts";
import { fromBase64 } from "../base64.ts";
import { concatBytes, fromUtf8, utf8 } from "../bytes.ts";
import { fromHex } from "../hex.ts";
import { p256SignatureToDer } from "../keys/ecdsa-der.ts";
import { publicKeyFromP256Point } from "../keys/public-key.ts";
import { sshFingerprint } from "../keys/ssh.ts";
import { verifySignature } from "../keys/verify-signature.ts";
import { ProofError } from "../proof-error.ts";
import { envelopeFromJson, formatEnvelope, MAX_ENVELOPE_SIZE, parseEnvelope } from "./envelope.ts";
import { pae } from "./pae.ts";
import { signEnvelope } from "./sign.ts";
import { verifyEnvelope } from "./verify.ts";

/** DSSE protocol.md, test vectors. */
const VECTOR = {
  payload: "aGVsbG8gd29ybGQ=",
  payloadType: "http://example.com/HelloWorld",
  signatures: [
    { sig: "A3JqsQGtVsJ2O2xqrI5IcnXip5GToJ3F+FnZ+O88SjtR6rDAajabZKciJTfUiHqJPcIAriEGAHTVeCUjW2JIZA==" },
  ],
};
const hex64 = (decimal: string): Uint8Array => fromHex(BigInt(decimal).toString(16).padStart(64, "0"));

describe("DSSE's own vector", () => {
  it("has the published pre-authentication encoding", () => {
    const encoded = "DSSEv1 29 http://example.com/HelloWorld 11 hello world";
    expect(fromUtf8(pae(VECTOR.payloadType, utf8("hello world")))).toBe(encoded);
  });

  /** The vector's signature is r || s. This package takes DER, which is what the tools write. */
  it("verifies", async () => {
    const key = publicKeyFromP256Point(
      concatBytes(
        Uint8Array.of(4),
        hex64("46950820868899156662930047687818585632848591499744589407958293238635476079160"),
        hex64("5640078356564379163099075877009565129882514886557779369047442380624545832820"),
      ),
    );
    const envelope = envelopeFromJson(VECTOR);
    const message = pae(envelope.payloadType, envelope.payload);
    expect(await verifySignature(key, message, p256SignatureToDer(envelope.signature))).toBe(true);
    expect(await verifySignature(key, message, envelope.signature)).toBe(false);
  });
});

it("counts bytes, not characters, in the pre-authentication encoding", () => {
  expect(fromUtf8(pae("ü", utf8("€")))).toBe("DSSEv1 2 ü 3 €");
  expect(fromUtf8(pae("", utf8("")))).toBe("DSSEv1 0  0 ");
});

describe("envelopes", async () => {
  const keys = [await ed25519Key(1), await p256Key()];
  const input = { payloadType: "application/vnd.in-toto+json", payload: utf8(`{"a":1}`) };

  it("round-trip and verify, with both kinds of key", async () => {
    for (const { publicKey, sign } of keys) {
      const envelope = await signEnvelope({ ...input, keyid: sshFingerprint(publicKey), sign });
      const parsed = parseEnvelope(formatEnvelope(envelope));
      expect(parsed).toEqual(envelope);
      await verifyEnvelope(parsed, publicKey);
    }
  });

  it("are refused if they were changed, or under another key or keyid", async () => {
    const [{ publicKey, sign }, other] = keys as [(typeof keys)[0], (typeof keys)[0]];
    const envelope = await signEnvelope({ ...input, keyid: sshFingerprint(publicKey), sign });
    const invalid = { code: "envelope_signature_invalid" };
    await expect(verifyEnvelope({ ...envelope, payload: utf8(`{"a":2}`) }, publicKey)).rejects.toMatchObject(
      invalid,
    );
    await expect(verifyEnvelope({ ...envelope, payloadType: "x" }, publicKey)).rejects.toMatchObject(invalid);
    await expect(verifyEnvelope(envelope, other.publicKey)).rejects.toMatchObject(invalid);
    for (const keyid of ["", sshFingerprint(other.publicKey)])
      await expect(verifyEnvelope({ ...envelope, keyid }, publicKey)).rejects.toMatchObject({
        code: "envelope_keyid_mismatch",
      });
  });

  it("may use either base64 alphabet and may leave out the keyid", () => {
    const json = { payload: "-_8=", payloadType: "t", signatures: [{ sig: "+/8=" }] };
    const bytes = fromBase64("+/8=");
    expect(envelopeFromJson(json)).toEqual({ payload: bytes, payloadType: "t", keyid: "", signature: bytes });
  });

  const good = { payload: "YQ==", payloadType: "t", signatures: [{ keyid: "k", sig: "YQ==" }] };
  it.each([
    [null],
    [[]],
    ["text"],
    [{ ...good, payload: undefined }],
    [{ ...good, payload: 1 }],
    [{ ...good, payload: "YR==" }],
    [{ ...good, payload: "YQ" }],
    [{ ...good, payload: "Y Q==" }],
    [{ ...good, payloadType: "" }],
    [{ ...good, payloadType: 1 }],
    [{ ...good, signatures: {} }],
    [{ ...good, signatures: [] }],
    [{ ...good, signatures: [good.signatures[0], good.signatures[0]] }],
    [{ ...good, signatures: ["YQ=="] }],
    [{ ...good, signatures: [{ keyid: 1, sig: "YQ==" }] }],
    [{ ...good, signatures: [{ keyid: "k" }] }],
    [{ ...good, signatures: [{ keyid: "k", sig: "YQ==", cert: "" }] }],
    [{ ...good, extra: 1 }],
  ])("refuses %j", (value) => {
    expect(() => parseEnvelope(JSON.stringify(value))).toThrow(ProofError);
  });

  it("refuses envelopes that are too large and duplicate members", () => {
    expect(() => parseEnvelope(" ".repeat(MAX_ENVELOPE_SIZE + 1))).toThrow(ProofError);
    expect(() => parseEnvelope(`{"payload":"YQ==",${JSON.stringify(good).slice(1)}`)).toThrow(ProofError);
  });
});
