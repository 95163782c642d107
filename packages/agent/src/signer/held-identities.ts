import { readdir } from "node:fs/promises";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { replaceFile } from "@attestore/host/durable-files";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { recipientsOf } from "../crypto/identity.ts";
import { SshKeyError } from "../crypto/ssh-private-key.ts";
import { fileKeyOf, findHeaderEnd, MAX_HEADER_BYTES } from "../crypto/age-header.ts";
import { DamagedCiphertext } from "../crypto/damaged.ts";
import { identityText, parseIdentities } from "../crypto/age-identity.ts";
import { readText } from "../state/read-json.ts";
import { UserError } from "../errors/user-error.ts";
import { RunError } from "../errors/run-error.ts";
import { socketOf } from "../signer-client/signer-reference.ts";

const OWN = "age.key";
const NAME = /^age(?:-[A-Za-z0-9._-]{1,64})?\.key$/;
const MAX_IDENTITIES = 32;
/** As many recipients as an encryption key's rotation may name. */
const MAX_STANZAS = 256;

export type OpenedHeader = { readonly fileKey: Buffer } | "no identity" | "damaged";

/**
 * Files `age.key` and `age-*.key` in the signing process's directory; each contains age identities
 * or an SSH private key.
 */
export class HeldIdentities {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * The recipient of the host's own identity; makes one if there is none. @throws UserError
   * `key_file`
   */
  async ensure(): Promise<string> {
    const path = join(this.#directory, OWN);
    const text = await readText(path);
    if (text === null) return this.#make(path);
    const [first] = identitiesIn(text, path);
    const [recipient] = first === undefined ? [] : await recipientsOf(first);
    if (recipient === undefined) throw new UserError("key_file", `${path} holds no identity`);
    return recipient;
  }

  /**
   * Makes another one and returns its recipient. @throws UserError `key_file` if there are too many
   */
  async make(): Promise<string> {
    const names = await this.#names();
    if (names.length >= MAX_IDENTITIES)
      throw new UserError(
        "key_file",
        `${this.#directory} has ${names.length} identities already: move those that no backup needs elsewhere, as root`,
      );
    const at = new Date().toISOString().replaceAll(/[-:.]/g, "").toLowerCase();
    return this.#make(join(this.#directory, `age-${at}.key`));
  }

  /** The host's own first. @throws UserError `key_file` */
  async recipients(): Promise<string[]> {
    const each = (await this.#identities()).map((identity) => recipientsOf(identity));
    return [...new Set((await Promise.all(each)).flat())];
  }

  /**
   * The file key of an age file, for a caller that has its whole header. A stanza alone gets no
   * answer, because the MAC binds it to its file. Every key that is handed out is recorded in the
   * journal, by the header's SHA-256.
   * @throws UserError `key_file`
   */
  async open(header: Buffer): Promise<OpenedHeader> {
    if (header.length > MAX_HEADER_BYTES || stanzasIn(header) > MAX_STANZAS)
      throw new UserError(
        "key_file",
        `a header has at most ${MAX_HEADER_BYTES} bytes and ${MAX_STANZAS} recipients`,
      );
    try {
      if (findHeaderEnd(header) !== header.length) return "damaged";
      const fileKey = await fileKeyOf(header, await this.#identities());
      process.stderr.write(
        `attestore: gave the file key of the header ${createHash("sha256").update(header).digest("hex")}\n`,
      );
      return { fileKey };
    } catch (error) {
      if (error instanceof DamagedCiphertext) return "damaged";
      if (!(error instanceof RunError)) throw error;
      if (error.code === "identity_missing") return "no identity";
      throw new UserError("key_file", error.message, { cause: error });
    }
  }

  async #make(path: string): Promise<string> {
    const identity = await generateX25519Identity();
    await replaceFile(path, await identityText(identity));
    return identityToRecipient(identity);
  }

  async #names(): Promise<string[]> {
    const names = (await readdir(this.#directory)).filter((name) => NAME.test(name));
    return names.toSorted((a, b) => Number(b === OWN) - Number(a === OWN) || (a < b ? 1 : -1));
  }

  async #identities(): Promise<string[]> {
    const identities: string[] = [];
    for (const name of await this.#names()) {
      const path = join(this.#directory, name);
      identities.push(...identitiesIn((await readText(path)) ?? "", path));
    }
    return identities;
  }
}

/** @throws UserError `key_file` */
function identitiesIn(text: string, path: string): string[] {
  try {
    const identities = parseIdentities(text, path);
    if (identities.every((each) => socketOf(each) === null)) return identities;
  } catch (error) {
    if (!(error instanceof SshKeyError)) throw error;
  }
  throw new UserError("key_file", `${path} holds no identity that can be used`);
}

function stanzasIn(header: Buffer): number {
  let count = 0;
  for (let at = header.indexOf("\n-> "); at !== -1; at = header.indexOf("\n-> ", at + 1)) count += 1;
  return count;
}
