import fc from "fast-check";
import { describe, it } from "vitest";
import {
  bundleFromJson,
  decodeEntryBundle,
  envelopeFromJson,
  formatEnvelope,
  formatLeaf,
  formatPublicKeyPem,
  formatSshLine,
  formatTlogProof,
  fromBase64,
  fromEitherBase64,
  fromHex,
  fromUtf8,
  leafFromJson,
  nodeFromTile,
  openCheckpoint,
  parseBundle,
  parseCheckpoint,
  parseCosignature,
  parseEnvelope,
  parseJson,
  parseLeaf,
  parseNote,
  parsePublicKeyFile,
  parsePublicKeyWire,
  parseReceipt,
  parseStatement,
  parseTilePath,
  parseTlogProof,
  parseVerifierKey,
  ProofError,
  type PublicKey,
  publicKeyFromBytes,
  publicKeyFromSpki,
  utf8,
  verifyReceipt,
  verifySignature,
} from "../src/index.ts";
import { bundleOf, LOG_NAME, restoreTestStatement, signStatement } from "./receipt-fixture.ts";
import { ed25519Key, p256Key, verifierOf } from "./signing-keys.ts";

const agent = await ed25519Key(1);
const log = await ed25519Key(2);
const hardware = await p256Key();
const logKey = verifierOf(log, LOG_NAME);
const statement = restoreTestStatement();
const envelope = await signStatement(statement, agent);
const bundle = await bundleOf({ statement, envelope, agent, log });

const ofBytes: Record<string, (bytes: Uint8Array) => unknown> = {
  fromUtf8,
  parseJson,
  parseEnvelope,
  parseLeaf,
  parseStatement,
  parseBundle,
  parseReceipt,
  parseNote,
  parseCosignature,
  publicKeyFromBytes,
  publicKeyFromSpki,
  decodeEntryBundle: (bytes) => decodeEntryBundle(bytes, bytes[0] ?? 0),
  nodeFromTile: (bytes) => nodeFromTile(bytes, { offset: 0, count: 2 }),
  openCheckpoint: (bytes) => openCheckpoint(bytes, logKey),
  verifySignature: (bytes) => verifySignature(hardware.publicKey, bytes, bytes),
  verifyEd25519: (bytes) => verifySignature(agent.publicKey, bytes, bytes),
};

const ofText: Record<string, (text: string) => unknown> = {
  fromHex,
  fromBase64,
  fromEitherBase64,
  utf8,
  parseJson,
  parseEnvelope,
  parseBundle,
  parseReceipt,
  parseNote,
  parseCheckpoint,
  parseTlogProof,
  parseTilePath,
  parseVerifierKey,
  parsePublicKeyWire,
  parsePublicKeyFile,
  openCheckpoint: (text) => openCheckpoint(text, logKey),
};

const ofJson: Record<string, (value: unknown) => unknown> = {
  envelopeFromJson,
  leafFromJson,
  bundleFromJson,
  verifyBundle: (value) =>
    verifyReceipt({ bundle: bundleFromJson(value), publicKey: agent.publicKey, logKey }),
};

/** Good input, to be damaged in one place: it gets further into a parser than noise does. */
const samples = [
  formatEnvelope(envelope),
  JSON.stringify(bundle),
  fromUtf8(envelope.payload),
  bundle.checkpoint,
  bundle.checkpoint.split("\n\n")[0] ?? "",
  bundle.log.verifier_key,
  bundle.public_key,
  formatPublicKeyPem(agent.publicKey),
  formatPublicKeyPem(hardware.publicKey),
  formatSshLine(hardware.publicKey),
  fromUtf8(formatLeaf(bundle.leaf)),
  formatTlogProof({
    index: 5n,
    hashes: bundle.inclusion_proof.hashes.map(fromHex),
    checkpoint: bundle.checkpoint,
  }),
  "tile/0/x001/234.p/56",
];

const damagedText = fc
  .tuple(
    fc.constantFrom(...samples),
    fc.nat(),
    fc.nat({ max: 8 }),
    fc.string({ unit: "binary", maxLength: 8 }),
  )
  .map(([text, at, cut, insert]) => {
    const place = at % (text.length + 1);
    return text.slice(0, place) + insert + text.slice(place + cut);
  });
const damagedBytes = fc
  .tuple(
    fc.constantFrom(...samples.map(utf8), agent.publicKey.bytes, hardware.publicKey.bytes),
    fc.nat(),
    fc.nat(255),
  )
  .map(([bytes, at, byte]) => bytes.with(at % bytes.length, byte));

/** Replaces one place of a document by any JSON. */
const damagedJson = fc.tuple(fc.nat(), fc.jsonValue()).map(([at, value]) => {
  const places: [object, string][] = [];
  const document = structuredClone({ bundle });
  const walk = (inner: object): void => {
    for (const [key, member] of Object.entries(inner) as [string, unknown][]) {
      places.push([inner, key]);
      if (typeof member === "object" && member !== null) walk(member);
    }
  };
  walk(document);
  const [inner, key] = places[at % places.length] ?? [document, "bundle"];
  (inner as Record<string, unknown>)[key] = value;
  return document.bundle as unknown;
});

async function throwsOnlyProofError(run: () => unknown): Promise<boolean> {
  try {
    await run();
    return true;
  } catch (error) {
    if (error instanceof ProofError) return true;
    throw error;
  }
}

describe("the only error thrown for foreign input is ProofError, for", () => {
  it.each(Object.entries(ofBytes))("bytes: %s", async (_name, parse) => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      damagedBytes,
      damagedText.map((text) => new TextEncoder().encode(text)),
    );
    await fc.assert(
      fc.asyncProperty(bytes, (value) => throwsOnlyProofError(() => parse(value))),
      { numRuns: 400 },
    );
  });

  it.each(Object.entries(ofText))("text: %s", async (_name, parse) => {
    const text = fc.oneof(fc.string({ unit: "binary", maxLength: 200 }), fc.json(), damagedText);
    await fc.assert(
      fc.asyncProperty(text, (value) => throwsOnlyProofError(() => parse(value))),
      { numRuns: 400 },
    );
  });

  it.each(Object.entries(ofJson))("JSON: %s", async (_name, parse) => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.jsonValue(), damagedJson), (value) =>
        throwsOnlyProofError(() => parse(value)),
      ),
      { numRuns: 400 },
    );
  });
});

it("every key that is accepted verifies a random signature as false without an error", async () => {
  const signature = fc.uint8Array({ minLength: 64, maxLength: 64 });
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 32, maxLength: 32 }), signature, async (bytes, noise) => {
      let key: PublicKey;
      try {
        key = publicKeyFromBytes(bytes);
      } catch (error) {
        return error instanceof ProofError;
      }
      return (await verifySignature(key, utf8("message"), noise)) === false;
    }),
    { numRuns: 400 },
  );
});
