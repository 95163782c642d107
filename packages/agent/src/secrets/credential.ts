import { join } from "node:path";

/**
 * The path of a systemd credential (`LoadCredential=NAME:…`, systemd.exec(5)): below
 * CREDENTIALS_DIRECTORY or, for a person who runs the agent outside its unit, where systemd puts
 * those of attestore.service.
 */
export function credentialPath(name: string, env: NodeJS.ProcessEnv = process.env): string {
  return join(env["CREDENTIALS_DIRECTORY"] ?? "/run/credentials/attestore.service", name);
}

/** A plain file name; systemd accepts no other. */
export function isCredentialName(name: string): boolean {
  return /^[A-Za-z0-9_][A-Za-z0-9._-]{0,254}$/.test(name);
}
