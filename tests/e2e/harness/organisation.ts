import { api, type Answer, type Call } from "./https.ts";
import { ed25519, type Signer } from "./keys.ts";
import type { Server } from "./server.ts";

export interface Organisation {
  server: Server;
  id: string;
  authKey: string;
}

/** What an attach answers. */
export interface Attached {
  agent_id: string;
  org_id: string;
  api_token: string;
  log: { origin: string; verifier_key: string };
  heartbeat_interval_s: number;
}

/** An agent that is only a key, a token and the calls of the wire protocol. */
export interface WireAgent {
  server: Server;
  id: string;
  orgId: string;
  token: string;
  signer: Signer;
  log: Attached["log"];
  intervalS: number;
  /** SHA-256 of the payload of the receipt before. */
  previousReceipt: string | null;
  call: (method: string, path: string, json?: unknown, more?: Partial<Call>) => Promise<Answer>;
}

let organisations = 0;

export async function createAuthKey(server: Server, orgId: string, ...options: string[]): Promise<string> {
  const made = await server.cliJson<{ auth_key: string }>("auth-key", "create", "--org", orgId, ...options);
  return made.auth_key;
}

export async function createOrganisation(server: Server): Promise<Organisation> {
  const { id } = await server.cliJson<{ id: string }>("org", "add", `Organisation ${++organisations}`);
  return { server, id, authKey: await createAuthKey(server, id) };
}

export function attachBody(signer: Signer, name = "host-1"): Record<string, string> {
  return {
    name,
    public_key: signer.wire,
    hostname: "host-1.example.org",
    platform: "linux-x64",
    agent_version: "0.1.0",
  };
}

export async function attach(
  org: Organisation,
  options: { name?: string; signer?: Signer; from?: string } = {},
): Promise<WireAgent> {
  const signer = options.signer ?? ed25519();
  const answer = await api(org.server, {
    method: "POST",
    path: "/api/bootstrap/attach",
    token: org.authKey,
    json: attachBody(signer, options.name),
    from: options.from,
  });
  if (answer.status !== 201) throw new Error(`attach: ${answer.status} ${answer.body.toString()}`);
  return wireAgent(org.server, answer.json<Attached>(), signer);
}

export function wireAgent(server: Server, attached: Attached, signer: Signer): WireAgent {
  const token = attached.api_token;
  return {
    server,
    id: attached.agent_id,
    orgId: attached.org_id,
    token,
    signer,
    log: attached.log,
    intervalS: attached.heartbeat_interval_s,
    previousReceipt: null,
    call: (method, path, json, more = {}) => api(server, { method, path, token, json, ...more }),
  };
}
