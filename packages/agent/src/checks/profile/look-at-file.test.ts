import { createHash } from "node:crypto";
import { deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import fc from "fast-check";
import { readFileName } from "./file-kinds.ts";
import { lookAtFile } from "./look-at-file.ts";
import { processorTime_ms } from "../../../test/processor-time.ts";

const PROSE = "Please leave the parcel with the neighbours if nobody answers the door. ".repeat(200);
const NUMBERS = Array.from({ length: 4000 }, (_, index) => `${index};${(index * 7919) % 1000}`).join("\n");
/** As good as random, and the same in each run: a few of 10,000 real draws do not look random. */
const noise = (bytes: number): Buffer =>
  createHash("shake256", { outputLength: bytes }).update("noise").digest();

const behind = (start: string | Buffer, bytes = 20_000): Buffer =>
  Buffer.concat([Buffer.from(start), noise(bytes)]);
const program = Buffer.concat([Buffer.from("\x7fELF"), Buffer.alloc(6000, 0x90)]);

const ORDINARY: readonly (readonly [string, Buffer])[] = [
  ["a.jpg", behind(Buffer.from("ffd8ffe0", "hex"))],
  ["a.png", behind(Buffer.from("89504e470d0a1a0a", "hex"))],
  ["a.jpg", behind(Buffer.from("89504e470d0a1a0a", "hex"))],
  ["a.heic", behind("\0\0\0\x18ftypheic")],
  ["a.pdf", behind("\r\n%PDF-1.7\n")],
  ["a.docx", behind("PK\x03\x04")],
  ["a.DOC", behind(Buffer.from("d0cf11e0a1b11ae1", "hex"))],
  ["a.tar.gz", gzipSync(PROSE + NUMBERS)],
  ["a.tar", Buffer.concat([Buffer.alloc(257, "a"), Buffer.from("ustar"), Buffer.alloc(4000)])],
  ["a.mp4", behind("\0\0\0\x18ftypmp42")],
  ["a.sqlite", Buffer.concat([Buffer.from("SQLite format 3\0"), Buffer.alloc(4000)])],
  ["a.txt", Buffer.from(PROSE)],
  ["a.csv", Buffer.from(NUMBERS)],
  ["a.txt", Buffer.from(`\ufeff${PROSE}`, "utf16le")],
  ["a.json", Buffer.from('{"a":[1,2,3],"name":"配達は午後にお願いします"}'.repeat(40))],
  ["program", program],
  ["4b825dc642cb6eb9a060e54bf8d69288fbee4904", deflateSync(PROSE + NUMBERS)],
  ["a.bin", Buffer.alloc(20_000)],
  ["a.dat", Buffer.from(Array.from({ length: 20_000 }, (_, at) => (at * at) & 0xff))],
  [".hidden", Buffer.from("x")],
];

test.each(ORDINARY)("%s as it is does not look encrypted, and is what its name says", (name, bytes) => {
  expect(lookAtFile(name, bytes)).toMatchObject({ isRandom: false, isRenamed: false, isNote: false });
  expect(lookAtFile(name, bytes).isMismatched).not.toBe(true);
});

test.each(["a.jpg", "a.pdf", "a.docx", "a.zip", "a.mp4", "a.sqlite", "a.txt", "a.csv"])(
  "%s of random bytes looks encrypted, and is not what its name says",
  (name) => {
    for (const bytes of [200, 4096, 100_000])
      expect(lookAtFile(name, noise(bytes))).toMatchObject({ isRandom: true, isMismatched: true });
  },
);

test("random bytes without a name look encrypted; compressed ones seldom, if they are long enough", () => {
  expect(lookAtFile("data", noise(4096)).isRandom).toBe(true);
  const dense = deflateRawSync(Buffer.from(Array.from({ length: 60_000 }, (_, at) => (at * 7919) % 253)));
  expect(lookAtFile("data", dense).isRandom).toBe(false);
});

test("ciphertext as text, and behind an intact start, looks encrypted", () => {
  expect(lookAtFile("a.txt", Buffer.from(noise(3000).toString("base64"))).isRandom).toBe(true);
  expect(lookAtFile("a.txt", Buffer.from("age-encryption.org/v1\n-> X25519 abcdef")).isRandom).toBe(true);
  expect(lookAtFile("a.txt", behind(PROSE.slice(0, 8000), 30_000)).isRandom).toBe(true);
});

test("an empty picture, or one of zeros, is not a picture; an empty text is a text", () => {
  expect(lookAtFile("a.jpg", Buffer.alloc(5000)).isMismatched).toBe(true);
  expect(lookAtFile("a.jpg", Buffer.alloc(0)).isMismatched).toBe(true);
  expect(lookAtFile("a.txt", Buffer.alloc(0)).isMismatched).toBeNull();
  expect(lookAtFile("a.txt", Buffer.alloc(5000)).isMismatched).toBe(true);
});

test.each([
  "report.docx.locked",
  "photo.jpg.x7f3a",
  "photo.JPG.id-1234.[mail@example.com].phobos",
  "accounts.xlsx.lockbit",
  "letter.txt.qwfr9",
])("%s is a name as ransomware makes it", (name) => expect(readFileName(name).isRenamed).toBe(true));

test.each([
  "report.docx",
  "report.docx.bak",
  "a.tar.gz",
  "app.min.js.map",
  "index.html.erb",
  "photo.jpg.meta",
  "setup.cfg.in",
  "v1.2.3",
  "site.conf.disabled",
  "backup.sql.gpg",
  "libfoo.so.6.1",
  "Dr. Smith",
  ".bashrc",
])("%s is an ordinary name", (name) => expect(readFileName(name).isRenamed).toBe(false));

test.each([
  "HOW_TO_DECRYPT.txt",
  "HOW TO RECOVER YOUR FILES.hta",
  "!!!READ_ME_FOR_DECRYPT!!!.txt",
  "_readme.txt",
  "DECRYPT_INSTRUCTIONS.html",
  "HELP_DECRYPT.png",
  "RyukReadMe.txt",
  "LockBit-note.hta",
  "ykx8d2-readme.txt",
  "#DECRYPT MY FILES#.txt",
  "YOUR_FILES_ARE_ENCRYPTED.txt",
  "What happened to my files.txt",
  "@Please_Read_Me@.txt",
])("%s is the name of a ransom note", (name) => expect(readFileName(name).isNote).toBe(true));

test.each([
  "README.txt",
  "readme.md",
  "how-to-restore.md",
  "restore.txt",
  "how-to-backup.html",
  "help.txt",
  "decrypt.py",
  "recovery.png",
])("%s is not the name of a ransom note", (name) => expect(readFileName(name).isNote).toBe(false));

test("any name and any bytes are looked at", () => {
  fc.assert(
    fc.property(
      fc.string({ maxLength: 255, unit: "binary" }),
      fc.uint8Array({ maxLength: 300 }),
      (name, bytes) => {
        const { entropy } = lookAtFile(name, Buffer.from(bytes));
        expect(entropy ?? 0).toBeLessThanOrEqual(8);
      },
    ),
  );
  const names = [
    "a".repeat(255),
    "_".repeat(255),
    "how to ".repeat(36),
    `${"a.".repeat(127)}b`,
    "!".repeat(255),
  ];
  expect(processorTime_ms(() => names.forEach((name) => readFileName(name)))).toBeLessThan(100);
});
