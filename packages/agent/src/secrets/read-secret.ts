import type { SecretReference } from "./secret-reference.ts";
import { readText } from "../state/read-json.ts";
import { UserError } from "../errors/user-error.ts";

/**
 * Reads the secret that a reference in config.yaml points to: an environment variable, or the first
 * line of a file.
 * @throws UserError key_file
 */
export async function readSecret(
  reference: SecretReference,
  what: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  const isEnv = reference.kind === "env";
  const text = isEnv ? env[reference.name] : await readText(reference.path);
  const secret = text?.split("\n")[0]?.trim() ?? "";
  if (secret !== "") return secret;
  const where = isEnv ? `the environment variable ${reference.name}` : reference.path;
  throw new UserError("key_file", `${what} is not there: ${where} is missing or empty`);
}
