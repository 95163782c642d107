import { replaceFile } from "@attestore/host/durable-files";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { isPrivateKeyPem } from "../keys/ssh-private-key.ts";
import { readText } from "./read-json.ts";
import { UserError } from "./user-error.ts";

/**
 * The age identity at `path`, made if it is not there, in the form of age-keygen.
 * @returns its recipient, `age1…`.
 */
export async function ensureAgeIdentity(path: string): Promise<string> {
  if ((await readText(path)) === null) {
    const identity = await generateX25519Identity();
    const recipient = await identityToRecipient(identity);
    await replaceFile(
      path,
      `# created: ${new Date().toISOString()}\n# public key: ${recipient}\n${identity}\n`,
    );
  }
  const [identity] = await readIdentities([path]);
  if (identity === undefined) throw new UserError("key_file", `${path} holds no age identity`);
  return identityToRecipient(identity);
}

/** The identities of files: `AGE-SECRET-KEY-1…` lines, or an SSH private key, whole. @throws UserError key_file */
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
  // The line itself is not repeated: it may be a secret.
  if (!found.every((line) => line.startsWith("AGE-SECRET-KEY-1")))
    throw new UserError(
      "key_file",
      `${name} has a line that is neither a comment nor an AGE-SECRET-KEY-1…, and is no SSH private key`,
    );
  return found;
}
