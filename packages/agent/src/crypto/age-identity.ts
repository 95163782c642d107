import { replaceFile } from "@attestore/host/durable-files";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { recipientsOf } from "./identity.ts";
import { isPrivateKeyPem } from "./ssh-private-key.ts";
import { signerReferenceFile, socketOf } from "../signer-client/signer-reference.ts";
import { ensureHeldIdentity } from "../signer-client/remote-identities.ts";
import { readText } from "../state/read-json.ts";
import { wrongKey } from "../errors/wrong-key.ts";
import { UserError } from "../errors/user-error.ts";

/**
 * The age identity at `path`, in age-keygen's form; made if it is missing. If `signer` is the
 * socket of a signing process, that makes and holds it.
 * @returns its recipient, `age1…`. @throws UserError `key_file`, `signer`
 */
export async function ensureAgeIdentity(path: string, signer: string | null): Promise<string> {
  if ((await readText(path)) === null) {
    const text =
      signer === null
        ? await identityText(await generateX25519Identity())
        : signerReferenceFile(signer, await ensureHeldIdentity(signer));
    await replaceFile(path, text);
  }
  const [identity] = await readIdentities([path]);
  const [recipient] = identity === undefined ? [] : await recipientsOf(identity);
  if (recipient === undefined) throw new UserError("key_file", `${path} holds no age identity`);
  return recipient;
}

/** An identity file in age-keygen's form. */
export async function identityText(identity: string): Promise<string> {
  return `# created: ${new Date().toISOString()}\n# public key: ${await identityToRecipient(identity)}\n${identity}\n`;
}

/**
 * The identities in files: `AGE-SECRET-KEY-1…` lines, a whole SSH private key, or a line that says
 * who holds them. @throws UserError key_file
 */
export async function readIdentities(paths: readonly string[]): Promise<string[]> {
  const identities: string[] = [];
  for (const path of paths) {
    const text = await readText(path);
    if (text === null) throw new UserError("key_file", `the identity file ${path} does not exist`);
    identities.push(...parseIdentities(text, path));
  }
  return identities;
}

/** `name` is for messages. @throws UserError key_file */
export function parseIdentities(text: string, name: string): string[] {
  if (isPrivateKeyPem(text)) return [text];
  const found = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  // The line itself is not repeated, because it may be a secret.
  if (!found.every((line) => line.startsWith("AGE-SECRET-KEY-1") || socketOf(line) !== null))
    throw new UserError(
      "key_file",
      `${name} has a line that is neither a comment nor an AGE-SECRET-KEY-1…, and it is not an SSH private key${wrongKey(text)}`,
    );
  return found;
}
