import { createHash, verify } from "node:crypto";
import { ed25519PublicKey } from "./keys.ts";

/** C2SP signed-note and tlog-checkpoint, read strictly. */
export interface Checkpoint {
  origin: string;
  size: number;
  /** Hex. */
  rootHash: string;
  signatures: { name: string; keyId: string; signature: Buffer }[];
}

/** Opens a checkpoint; throws unless the verifier key's signature is there and right. */
export function openCheckpoint(note: string, verifierKey: string): Checkpoint {
  const end = note.indexOf("\n\n");
  if (end < 0) throw new Error(`no blank line in the note:\n${note}`);
  const text = note.slice(0, end + 1);
  const tail = note.slice(end + 2);
  if (!tail.endsWith("\n")) throw new Error(`the note does not end with a new line:\n${note}`);
  const lines = text.split("\n").slice(0, -1);
  if (lines.length !== 3) throw new Error(`${lines.length - 3} extension lines in the checkpoint:\n${note}`);
  const [origin = "", size = "", root = ""] = lines;
  if (!/^(0|[1-9]\d*)$/.test(size)) throw new Error(`size ${size} in the checkpoint`);
  if (!/^[A-Za-z0-9+/]{43}=$/.test(root)) throw new Error(`root ${root} in the checkpoint`);

  const signatures = tail
    .slice(0, -1)
    .split("\n")
    .map((line) => {
      const match = /^\u2014 (\S+) ([A-Za-z0-9+/]+={0,2})$/u.exec(line);
      if (!match) throw new Error(`not a signature line: ${line}`);
      const bytes = Buffer.from(match[2] ?? "", "base64");
      return {
        name: match[1] ?? "",
        keyId: bytes.subarray(0, 4).toString("hex"),
        signature: bytes.subarray(4),
      };
    });

  const key = parseVerifierKey(verifierKey);
  if (key.name !== origin) throw new Error(`the key is named ${key.name} and the log ${origin}`);
  const own = signatures.filter(({ name, keyId }) => name === key.name && keyId === key.id);
  if (own.length !== 1) throw new Error(`${own.length} signatures of ${key.name} in the note:\n${note}`);
  for (const { signature } of own) {
    if (!verify(null, Buffer.from(text), ed25519PublicKey(key.bytes), signature)) {
      throw new Error(`the signature of ${key.name} is wrong:\n${note}`);
    }
  }
  return { origin, size: Number(size), rootHash: Buffer.from(root, "base64").toString("hex"), signatures };
}

export function parseVerifierKey(text: string): { name: string; id: string; bytes: Buffer } {
  const match = /^([^+\s]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})$/.exec(text);
  if (!match) throw new Error(`not a verifier key: ${text}`);
  const [, name = "", id = "", encoded = ""] = match;
  const key = Buffer.from(encoded, "base64");
  if (key.length !== 33 || key[0] !== 1) throw new Error(`not an Ed25519 verifier key: ${text}`);
  const computed = createHash("sha256").update(`${name}\n`).update(key).digest("hex").slice(0, 8);
  if (computed !== id) throw new Error(`the key id of ${text} is ${computed}`);
  return { name, id, bytes: key.subarray(1) };
}
