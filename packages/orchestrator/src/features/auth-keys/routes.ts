import { AuthKeyMinted, AuthKeyRecord, Id, MintAuthKeyRequest } from "@attestore/contract";
import { Type } from "@fastify/type-provider-typebox";
import { notFound } from "../../platform/errors/api-error.ts";
import { listOf, listQuery, paged, pageOf, period, periodOf } from "../../platform/http/route/pagination.ts";
import { orgReadRoute, type Route, writeRoute } from "../../platform/http/route/route.ts";
import { createAuthKey, DEFAULT_EXPIRY_S } from "./create-auth-key.ts";
import { commandForHosts } from "./command-for-hosts.ts";
import type { InstallFrom } from "./install-command.ts";
import { serializeAuthKey } from "./serialize.ts";
import { revokeAuthKey } from "./revoke-auth-key.ts";
import { keyIsOf, listActiveKeyPage } from "./store.ts";

const ofOrg = Type.Object({ orgID: Id("org") });
const ofKey = Type.Object({ orgID: Id("org"), id: Id("authKey") });

export interface AuthKeyDeps extends Omit<InstallFrom, "operatorsKey"> {
  /** Directory with what hosts install. */
  downloads: string;
}

export function authKeyRoutes({ downloads, ...service }: AuthKeyDeps): Route[] {
  const mint = writeRoute({
    method: "POST",
    path: "/api/orgs/:orgID/auth-keys",
    summary: "Create an auth key, shown only once",
    action: "auth_keys.manage",
    credential: "user",
    params: ofOrg,
    body: MintAuthKeyRequest,
    answers: { 201: AuthKeyMinted },
    rateLimits: ["default"],
    secret: true,
    async handle({ body, params, principal }, tx) {
      const { record, plaintext } = await createAuthKey(tx, {
        orgId: params.orgID,
        name: body.name ?? null,
        expiresIn_s: body.expires_in_s ?? DEFAULT_EXPIRY_S,
        maxUses: body.max_uses ?? null,
        createdBy: principal.id,
      });
      return {
        status: 201,
        body: {
          ...serializeAuthKey(record),
          auth_key: plaintext,
          install_command: await commandForHosts(service, downloads),
        },
      };
    },
  });

  const list = orgReadRoute({
    method: "GET",
    path: "/api/orgs/:orgID/auth-keys",
    summary: "List the auth keys that can still attach agents",
    action: "auth_keys.read",
    params: ofOrg,
    query: listQuery(period),
    answers: { 200: listOf(AuthKeyRecord) },
    rateLimits: ["default"],
    async handle({ orgId, query }, tx) {
      const page = pageOf("authKey", query);
      const keys = await listActiveKeyPage(tx, orgId, { page, ...periodOf(query) });
      return { status: 200, body: paged(keys, page, serializeAuthKey) };
    },
  });

  const revoke = writeRoute({
    method: "POST",
    path: "/api/orgs/:orgID/auth-keys/:id/revoke",
    summary: "Revoke an auth key; agents that attached with it stay",
    action: "auth_keys.manage",
    credential: "user",
    params: ofKey,
    answers: { 200: AuthKeyRecord },
    errors: ["conflict"],
    rateLimits: ["default"],
    async handle({ params }, tx) {
      if (!(await keyIsOf(tx, params.orgID, params.id))) throw notFound("auth key");
      return { status: 200, body: serializeAuthKey(await revokeAuthKey(tx, params.id)) };
    },
  });

  return [mint, list, revoke];
}
