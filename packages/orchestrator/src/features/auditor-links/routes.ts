import {
  AuditorLinkCreated,
  AuditorLinkOpened,
  AuditorLinkRecord,
  CreateAuditorLinkRequest,
  Id,
  OpenAuditorLinkRequest,
} from "@attestore/contract";
import { Type } from "@fastify/type-provider-typebox";
import { listOf, listQuery, paged, pageOf, period, periodOf } from "../../platform/http/route/pagination.ts";
import { orgReadRoute, type Route, writeRoute } from "../../platform/http/route/route.ts";
import { setSessionCookie } from "../../platform/http/credentials/session-cookie.ts";
import { createLink } from "./create-link.ts";
import { openLink } from "./open-link.ts";
import { serializeLink, viewOf } from "./serialize.ts";
import { revokeLink } from "./revoke-link.ts";
import { listLinkPage } from "./store.ts";

const ofOrg = Type.Object({ orgID: Id("org") });

/**
 * Links with which an auditor reads what an organisation recorded in one period, without an
 * account.
 */
export function auditorLinkRoutes({ publicUrl }: { publicUrl: string }): Route[] {
  const create = writeRoute({
    method: "POST",
    path: "/api/orgs/:orgID/auditor-links",
    summary: "Create an auditor link, shown only once: whoever has it can read the records of one period",
    action: "auditor_links.manage",
    credential: "user",
    params: ofOrg,
    body: CreateAuditorLinkRequest,
    answers: { 201: AuditorLinkCreated },
    rateLimits: ["default"],
    secret: true,
    async handle({ body, params, principal }, tx) {
      const { name, from, to, expires_in_s: expiresIn_s } = body;
      const asked = { orgId: params.orgID, name, from, to, expiresIn_s, createdBy: principal.id };
      const { link, secret } = await createLink(tx, asked);
      // A fragment: browsers send it to no server, so no log and no Referer header can contain it.
      return { status: 201, body: { ...serializeLink(link), url: `${publicUrl}/shared#${secret}` } };
    },
  });

  const list = orgReadRoute({
    method: "GET",
    path: "/api/orgs/:orgID/auditor-links",
    summary: "List auditor links, including expired and revoked ones",
    action: "auditor_links.read",
    params: ofOrg,
    query: listQuery(period),
    answers: { 200: listOf(AuditorLinkRecord) },
    rateLimits: ["default"],
    async handle({ orgId, query }, tx) {
      const page = pageOf("auditorLink", query);
      const links = await listLinkPage(tx, orgId, { page, ...periodOf(query) });
      return { status: 200, body: paged(links, page, serializeLink) };
    },
  });

  const revoke = writeRoute({
    method: "POST",
    path: "/api/orgs/:orgID/auditor-links/:id/revoke",
    summary: "Revoke an auditor link; who opened it is signed out at once",
    action: "auditor_links.manage",
    credential: "user",
    params: Type.Object({ orgID: Id("org"), id: Id("auditorLink") }),
    answers: { 200: AuditorLinkRecord },
    errors: ["conflict"],
    rateLimits: ["default"],
    async handle({ params, principal }, tx) {
      const link = await revokeLink(tx, { orgId: params.orgID, id: params.id, actorId: principal.id });
      return { status: 200, body: serializeLink(link) };
    },
  });

  const open = writeRoute({
    method: "POST",
    path: "/api/auditor-links/open",
    summary: "Exchange an auditor link for a session that reads the records of its period",
    action: "auditor_link.open",
    credential: "anonymous",
    body: OpenAuditorLinkRequest,
    answers: { 200: AuditorLinkOpened },
    errors: ["unauthenticated"],
    rateLimits: ["auditor_link_address"],
    secret: true,
    async handle({ body, address }, tx) {
      const { link, session } = await openLink(tx, { secret: body.secret, address });
      return {
        status: 200,
        headers: { "set-cookie": setSessionCookie(session.token, session.expiresAt) },
        body: {
          session_token: session.token,
          expires_at: session.expiresAt.toISOString(),
          org_id: link.org_id,
          auditor_link: viewOf(link),
        },
      };
    },
  });

  return [create, list, revoke, open];
}
