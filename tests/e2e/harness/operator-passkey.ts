import {
  type CreationAsked,
  SoftwareAuthenticator,
} from "../../../packages/orchestrator/test/software-authenticator.ts";
import { api, ownAddress } from "./https.ts";
import type { Server } from "./server.ts";

/**
 * Adds a passkey to whoever has just signed in with this session: operators can do nothing else
 * before.
 */
export async function addPasskey(server: Server, token: string): Promise<SoftwareAuthenticator> {
  const call = (path: string, json?: object) =>
    api(server, { method: "POST", path, json, token, from: ownAddress() });
  const authenticator = new SoftwareAuthenticator(server.url);
  const asked = await call("/api/auth/passkeys/options");
  const credential = authenticator.create(asked.json<CreationAsked>());
  const added = await call("/api/auth/passkeys", { name: "Authenticator", credential });
  if (added.status !== 201) throw new Error(`passkeys: ${added.status} ${added.body.toString()}`);
  return authenticator;
}
