import { describe, expect, it } from "vitest";
import { ed25519Key, verifierOf } from "../../test/signing-keys.ts";
import { fromBase64, toBase64 } from "../base64.ts";
import { utf8 } from "../bytes.ts";
import { EMPTY_ROOT } from "../merkle/hashing.ts";
import { ProofError } from "../proof-error.ts";
import { formatCheckpoint, openCheckpoint, parseCheckpoint } from "./checkpoint.ts";
import { cosignatureLine, cosignatureMessage } from "./cosignature.ts";
import { formatNote, noteSignatureLine, parseNote } from "./note.ts";
import { openNote } from "./open-note.ts";
import { formatTlogProof, parseTlogProof } from "./tlog-proof.ts";
import { formatVerifierKey, noteVerifier, parseVerifierKey } from "./verifier-key.ts";

/** C2SP signed-note, example. */
const FOO_KEY = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";
const FOO_NOTE = `This is an example message.

— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=
`;
/** The example of Go's golang.org/x/mod/sumdb/note. */
const NEUMANN_KEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
const NEUMANN_NOTE = `If you think cryptography is the answer to your problem,
then you don't know what your problem is.

— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=
`;
/** C2SP tlog-cosignature, example. */
const CHECKPOINT = `example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=
`;

async function rejection(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.then(
    () => expect.fail("nothing was thrown"),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ProofError);
  return (error as ProofError).code;
}

describe("published notes", () => {
  it.each([
    [FOO_KEY, FOO_NOTE],
    [NEUMANN_KEY, NEUMANN_NOTE],
  ])("%s opens its note, and no other", async (key, note) => {
    const verifier = parseVerifierKey(key);
    expect(formatVerifierKey(verifier)).toBe(key);
    const opened = await openNote(note, [verifier]);
    expect(opened).toEqual({
      text: note.slice(0, note.lastIndexOf("\n\n") + 1),
      verified: [{ verifier }],
      unknown: [],
    });
    expect(await openNote(utf8(note), [verifier])).toEqual(opened);
    expect(await rejection(openNote(note.replace("a", "b"), [verifier]))).toBe("note_signature_invalid");
    expect(await rejection(openNote(note, []))).toBe("note_signature_missing");
  });

  it("are not opened by another note's key of the same name", async () => {
    const other = noteVerifier("example.com/foo", "ed25519", parseVerifierKey(NEUMANN_KEY).publicKey);
    expect(await rejection(openNote(FOO_NOTE, [other]))).toBe("note_signature_missing");
  });

  it("round-trip", () => {
    for (const note of [FOO_NOTE, NEUMANN_NOTE]) {
      const { text, signatures } = parseNote(note);
      expect(
        formatNote(
          text,
          signatures.map((each) => noteSignatureLine(each, each.signature)),
        ),
      ).toBe(note);
    }
  });

  it("are parsed at the last empty line", () => {
    const note = `a\n\n— not a signature here\n\n${FOO_NOTE.split("\n\n")[1] ?? ""}`;
    expect(parseNote(note).text).toBe("a\n\n— not a signature here\n");
  });
});

describe("malformed notes", () => {
  const line = FOO_NOTE.split("\n")[2] ?? "";
  it.each([
    [""],
    ["text\n"],
    ["text\n\n"],
    [`text\n${line}\n`],
    [`text\n\n${line}`],
    [`text\n\n${line}\n\n`],
    [`text\n\n${line}\nx\n`],
    [`text\r\n\n${line}\n`],
    [`te\txt\n\n${line}\n`],
    [`te\ud800xt\n\n${line}\n`],
    [`text\n\n${line.replace("—", "-")}\n`],
    [`text\n\n${line.replace(" example", "  example")}\n`],
    [`text\n\n${line} \n`],
    [`text\n\n${line.replace("/foo", "/f+oo")}\n`],
    [`text\n\n${line.replace("/foo", "/f\u00a0oo")}\n`],
    [`text\n\n${line.replace("=", "")}\n`],
    [`text\n\n— name ${toBase64(new Uint8Array(4))}\n`],
    [`text\n\n${`${line}\n`.repeat(65)}`],
    [`${"x".repeat(140_000)}\n\n${line}\n`],
  ])("%.60j", (note) => {
    expect(() => parseNote(note)).toThrow(ProofError);
  });

  it("have room for 16 post-quantum signatures, and the same limit in bytes for text and for bytes", () => {
    const lines = Array.from({ length: 16 }, (_, n) =>
      noteSignatureLine({ name: `log.example/${n}`, keyId: n }, new Uint8Array(5000)),
    );
    const note = formatNote("text\n", lines);
    expect(parseNote(note).signatures).toHaveLength(16);
    expect(parseNote(utf8(note)).signatures).toHaveLength(16);
    const wide = formatNote(`${"\u20ac".repeat(40_000)}\n`, lines.slice(0, 1));
    expect(wide.length).toBeLessThan(128 * 1024);
    const tooWide = wide.replace("\u20ac", "\u20ac".repeat(5000));
    for (const source of [wide, utf8(wide)]) expect(parseNote(source).signatures).toHaveLength(1);
    for (const source of [tooWide, utf8(tooWide)]) expect(() => parseNote(source)).toThrow(/larger than/);
  });

  it("do not include a note with 64 signatures", () => {
    expect(parseNote(`text\n\n${`${line}\n`.repeat(64)}`).signatures).toHaveLength(64);
  });
});

describe("verifier keys", () => {
  it.each([
    "",
    "name",
    FOO_KEY.replace("530d903a", "530d903b"),
    FOO_KEY.replace("foo", "bar"),
    FOO_KEY.replace("+AekyeR", "+AekyeS"),
    FOO_KEY.replace("530d903a", "530D903A"),
    `${FOO_KEY}\n`,
    ` ${FOO_KEY}`,
    `${FOO_KEY}==`,
    // Of Go's tests: a wrong length, and an unknown algorithm, each with the hash that fits.
    "PeterNeumann+cc469956+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TWBADKEY==",
    "PeterNeumann+173116ae+ZRpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
  ])("%j is refused", (text) => {
    expect(() => parseVerifierKey(text)).toThrow(ProofError);
  });

  it("differ between the two kinds of signature of one key", async () => {
    const key = await ed25519Key(1);
    const plain = verifierOf(key, "log.example/a");
    const cosigner = verifierOf(key, "log.example/a", "cosignature/v1");
    expect(plain.keyId).not.toBe(cosigner.keyId);
    expect(parseVerifierKey(formatVerifierKey(cosigner))).toEqual(cosigner);
  });

  it("refuse names that a note cannot contain", async () => {
    const { publicKey } = await ed25519Key(1);
    for (const name of ["", "a b", "a+b", "a\nb", "a\u2003b", "a\u0085b"])
      expect(() => noteVerifier(name, "ed25519", publicKey.bytes)).toThrow(ProofError);
  });
});

describe("checkpoints", () => {
  it("have three lines", () => {
    const parsed = parseCheckpoint(CHECKPOINT);
    expect(parsed).toEqual({
      origin: "example.com/behind-the-sofa",
      size: 20852163n,
      rootHash: fromBase64("CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I="),
      extensions: [],
    });
    expect(formatCheckpoint(parsed)).toBe(CHECKPOINT);
    expect(formatCheckpoint({ ...parsed, size: 20852163 })).toBe(CHECKPOINT);
    expect(parseCheckpoint(`${CHECKPOINT}more\n`).extensions).toEqual(["more"]);
    expect(parseCheckpoint(`log\n0\n${toBase64(EMPTY_ROOT)}\n`).size).toBe(0n);
    expect(parseCheckpoint(`log\n18446744073709551615\n${toBase64(EMPTY_ROOT)}\n`).size).toBe(2n ** 64n - 1n);
  });

  it.each([
    CHECKPOINT.slice(0, -1),
    `\n${CHECKPOINT}`,
    `${CHECKPOINT}\n`,
    CHECKPOINT.replace("20852163", "020852163"),
    CHECKPOINT.replace("20852163", "+20852163"),
    CHECKPOINT.replace("20852163", "2e7"),
    CHECKPOINT.replace("20852163", "18446744073709551616"),
    CHECKPOINT.replace("20852163", ""),
    CHECKPOINT.replace("I=", "J="),
    CHECKPOINT.replace("CsUY", ""),
    "log\n1\n",
  ])("refuses %j", (text) => {
    expect(() => parseCheckpoint(text)).toThrow(ProofError);
  });

  it("refuses to format an origin with several lines, or a malformed size", () => {
    for (const bad of [
      { origin: "a\nb" },
      { origin: "" },
      { size: -1 },
      { size: 1.5 },
      { rootHash: new Uint8Array(31) },
    ])
      expect(() => formatCheckpoint({ origin: "log", size: 1, rootHash: EMPTY_ROOT, ...bad })).toThrow(
        ProofError,
      );
  });
});

describe("opening a checkpoint", async () => {
  const logKey = await ed25519Key(1);
  const witnessKey = await ed25519Key(2);
  const name = "log.example/org";
  const log = verifierOf(logKey, name);
  const witness = verifierOf(witnessKey, "witness.example/w", "cosignature/v1");
  const text = formatCheckpoint({ origin: name, size: 1, rootHash: EMPTY_ROOT });
  const logLine = noteSignatureLine(log, await logKey.sign(utf8(text)));
  const cosign = async (time: number, over = text): Promise<string> =>
    cosignatureLine(witness, time, await witnessKey.sign(cosignatureMessage(time, over)));
  const witnessLine = await cosign(1679315147);

  it("makes the signature lines of the specification's example", () => {
    expect(cosignatureMessage(1679315147, CHECKPOINT)).toEqual(
      utf8(`cosignature/v1\ntime 1679315147\n${CHECKPOINT}`),
    );
  });

  it("returns the checkpoint and the times of its cosignatures", async () => {
    const note = formatNote(text, [logLine]) + witnessLine;
    const opened = await openCheckpoint(note, log, [witness]);
    expect(opened).toMatchObject({ origin: name, size: 1n, text });
    expect(opened.cosignatures).toEqual([{ verifier: witness, timestamp_s: 1679315147 }]);
    expect((await openCheckpoint(note, log)).cosignatures).toEqual([]);
  });

  it("needs the log's own signature", async () => {
    expect(await rejection(openCheckpoint(formatNote(text, [witnessLine]), log, [witness]))).toBe(
      "note_signature_missing",
    );
  });

  it("refuses an invalid signature by a known key, even next to valid ones", async () => {
    for (const lines of [
      [logLine, await cosign(1679315147, text.replace("1", "2"))],
      [
        logLine,
        cosignatureLine(
          witness,
          1679315148,
          parseNote(formatNote(text, [witnessLine])).signatures[0]!.signature.slice(8),
        ),
      ],
      [noteSignatureLine(log, new Uint8Array(64)), witnessLine],
      [noteSignatureLine(log, await logKey.sign(cosignatureMessage(1, text)))],
    ])
      expect(await rejection(openCheckpoint(formatNote(text, lines), log, [witness]))).toBe(
        "note_signature_invalid",
      );
    const short = noteSignatureLine(witness, new Uint8Array(71));
    expect(await rejection(openCheckpoint(formatNote(text, [logLine, short]), log, [witness]))).toBe(
      "malformed_cosignature",
    );
  });

  it("refuses another log's origin under the right key", async () => {
    const other = formatCheckpoint({ origin: "log.example/other", size: 1, rootHash: EMPTY_ROOT });
    const note = formatNote(other, [noteSignatureLine(log, await logKey.sign(utf8(other)))]);
    expect(await rejection(openCheckpoint(note, log))).toBe("malformed_checkpoint");
  });

  it("refuses malformed times", () => {
    for (const time of [-1, 0.5, 2 ** 53, NaN])
      expect(() => cosignatureMessage(time, text)).toThrow(ProofError);
  });
});

describe("tlog-proof files", () => {
  const proof = { index: 73894n, hashes: [EMPTY_ROOT, new Uint8Array(32)], checkpoint: FOO_NOTE };
  const text = formatTlogProof(proof);

  it("are the lines of the specification", () => {
    expect(text).toBe(
      `c2sp.org/tlog-proof@v1\nindex 73894\n${toBase64(EMPTY_ROOT)}\n${toBase64(new Uint8Array(32))}\n\n${FOO_NOTE}`,
    );
    expect(parseTlogProof(text)).toEqual(proof);
    const withExtra = { ...proof, extra: utf8("leaf") };
    expect(formatTlogProof(withExtra).split("\n")[1]).toBe("extra bGVhZg==");
    expect(parseTlogProof(formatTlogProof(withExtra))).toEqual(withExtra);
    expect(parseTlogProof(formatTlogProof({ ...proof, hashes: [] })).hashes).toEqual([]);
  });

  it.each([
    "",
    text.replace("@v1", "@v2"),
    text.replace("index 73894", "index 073894"),
    text.replace("index 73894\n", ""),
    text.replace("index", "indexes"),
    text.replace("47DE", ""),
    text.replace("\n\n", "\n"),
    text.replace("index", "extra YQ==\nextra YQ==\nindex"),
    text.replace("index", "extra YR==\nindex"),
    text.slice(0, -1),
    text.replace("c2sp", "\nc2sp"),
  ])("refuses %.50j", (bad) => {
    expect(() => parseTlogProof(bad)).toThrow(ProofError);
  });
});
