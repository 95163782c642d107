/**
 * An organisation that has one of everything, made over HTTPS: what the tenancy walk looks for in
 * other people's answers.
 */
import { newId, type IdKind } from "@attestore/contract";
import { createHash, randomBytes } from "node:crypto";
import { ownAddress } from "../client.ts";
import { makeHistory } from "../history.ts";
import { attachBody, type TestAgent, type TestOrg, type TestService, type TestUser } from "../service.ts";
import type { Slot } from "./fill.ts";

/** `auditor_link` is whoever opened one. */
export type Role = "owner" | "admin" | "auditor" | "auditor_link";
export const ROLES: readonly Role[] = ["owner", "admin", "auditor", "auditor_link"];

export interface World {
  org: TestOrg;
  users: Record<Exclude<Role, "auditor_link">, TestUser>;
  /** Of each role's session. */
  tokens: Record<Role, string>;
  agent: TestAgent;
  revokedAgent: TestAgent;
  /** Signed out. */
  endedSession: string;
  backup: { id: string; sourceId: string; sha256: string };
  /** Announced and put there, and registered as no backup yet. */
  upload: { sha256: string; size_bytes: number };
  ids: Partial<Record<Slot, string>>;
  /** All that may be in nobody else's answer. */
  secrets: string[];
}

/** Throws for a kind of record that this world has none of: then it has to be given one. */
export function idOf(world: World, slot: Slot): string {
  const id = world.ids[slot];
  if (id === undefined)
    throw new Error(`test/tenancy/world.ts makes nothing with an id of the kind "${slot}": add one`);
  return id;
}

export async function makeWorld(service: TestService): Promise<World> {
  const org = await service.addOrg(`Org ${randomBytes(6).toString("hex")}`);
  const users = {
    owner: await service.signIn(org, "owner"),
    admin: await service.signIn(org, "admin"),
    auditor: await service.signIn(org, "auditor"),
  };
  // Whom calls about a user are about: the others go on calling.
  const subject = await service.signIn(org, "auditor");
  await subject.post("/api/auth/logout");
  const { agent, sourceId, backups } = await makeHistory(service, org);
  const [made] = backups;
  if (made === undefined) throw new Error("no backup was made");
  const revokedAgent = await service.attach(org);
  await users.owner.post(`/api/orgs/${org.id}/agents/${revokedAgent.id}/revoke`);
  // What calls about an agent are about: the other one goes on calling.
  const agentOfIds = await service.attach(org);
  const bytes = randomBytes(16);
  const upload = await service.upload(agent, sourceId, bytes);
  const command = await service.queueCommand(sourceId, "backup");
  const configRequest = newId("configRequest");
  await service.pool.query("update agents set remote_config = true where id = $1", [agentOfIds.id]);
  await service.pool.query(
    `insert into config_requests (id, org_id, agent_id, asked_by, request, status, created_at, expires_at)
     values ($1, $2, $3, $4, '{"kind":"discover"}', 'delivered', now(), now() + interval '1 hour')`,
    [configRequest, org.id, agent.id, users.owner.id],
  );
  const link = await openedLink(service, org, users.owner);
  const channels = `/api/orgs/${org.id}/notifications/channels`;
  const channel = await users.owner.post(channels, {
    kind: "webhook",
    url: "https://hooks.example.org/attestore",
  });
  const sent = await users.owner.post(`${channels}/${String(channel.json["id"])}/test`);
  if (sent.status !== 202) throw new Error(`${channel.body.toString()} ${sent.body.toString()}`);
  const passkey = await addPasskeyOf(service, subject.email);
  const attaches = { decided: await startAttach(service), pending: await startAttach(service) };
  await users.owner.post(`/api/orgs/${org.id}/bootstraps/${attaches.decided.code}/approve`);
  const { rows } = await service.pool.query<{
    key: string;
    event: string;
    log: string;
    boot: string;
    notification: string;
  }>(
    `select (select max(id) from auth_keys where org_id = $1) as key,
      (select max(id) from events where org_id = $1) as event,
      (select max(id) from api_logs where org_id = $1) as log,
      (select max(id) from bootstraps where org_id = $1) as boot,
      (select max(id) from notifications where org_id = $1) as notification`,
    [org.id],
  );
  const found = rows[0];
  if (found === undefined) throw new Error("the world is empty");
  const ids: Record<Exclude<IdKind, "request">, string> = {
    org: org.id,
    user: subject.id,
    agent: agentOfIds.id,
    authKey: found.key,
    bootstrap: found.boot,
    source: sourceId,
    backup: made.id,
    receipt: made.receipts.restore_test,
    event: found.event,
    command,
    apiLog: found.log,
    upload: upload.upload_id,
    auditorLink: link.id,
    channel: channel.json["id"] as string,
    notification: found.notification,
    delivery: sent.json["delivery_id"] as string,
    passkey,
    configRequest,
  };
  return {
    org,
    users,
    tokens: {
      owner: users.owner.token,
      admin: users.admin.token,
      auditor: users.auditor.token,
      auditor_link: link.token,
    },
    agent,
    revokedAgent,
    endedSession: subject.token,
    backup: { id: made.id, sourceId, sha256: made.sha256 },
    upload: { sha256: createHash("sha256").update(bytes).digest("hex"), size_bytes: bytes.length },
    ids: {
      ...ids,
      request: newId("request"),
      code: attaches.pending.code,
      poll_token: attaches.decided.poll_token,
    },
    secrets: [...Object.values(ids), agent.id, revokedAgent.id, ...Object.values(users).map(({ id }) => id)],
  };
}

/**
 * The same where somebody of another organisation names them: an attach that waits is nobody's yet,
 * one that was decided is.
 */
export function asSeenByOthers(world: World, decidedCode: string): World {
  return { ...world, ids: { ...world.ids, code: decidedCode } };
}

/**
 * Of the user of the ids, who is signed out. Its key opens nothing: the walk asks who may see and
 * change it.
 */
async function addPasskeyOf({ pool }: TestService, email: string): Promise<string> {
  const id = newId("passkey");
  await pool.query("insert into passkey_owners (email, handle) values ($1, $2)", [email, randomBytes(32)]);
  await pool.query(
    `insert into passkeys (id, email, credential_id, public_key, counter, transports, synced, name)
     values ($1, $2, $3, $3, 0, '{}', false, 'Key ring')`,
    [id, email, randomBytes(32)],
  );
  return id;
}

async function openedLink(
  service: TestService,
  org: TestOrg,
  owner: TestUser,
): Promise<{ id: string; token: string }> {
  const now = Date.now();
  const made = await owner.post(`/api/orgs/${org.id}/auditor-links`, {
    name: "Autumn audit",
    from: new Date(now - 86_400_000).toISOString(),
    to: new Date(now + 86_400_000).toISOString(),
  });
  const secret = String(made.json["url"]).split("#")[1];
  const opened = await service.call({
    method: "POST",
    path: "/api/auditor-links/open",
    json: { secret },
    from: ownAddress(),
  });
  if (opened.status !== 200) throw new Error(`${made.body.toString()} ${opened.body.toString()}`);
  return { id: made.json["id"] as string, token: opened.json["session_token"] as string };
}

export async function startAttach(service: TestService): Promise<{ code: string; poll_token: string }> {
  const answer = await service.call({
    method: "POST",
    path: "/api/bootstrap/start",
    json: attachBody(),
    from: ownAddress(),
  });
  return answer.json as { code: string; poll_token: string };
}
