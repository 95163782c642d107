import { ChangeOrgRequest, CreateOrgRequest, Id, OrgRecord } from "@attestore/contract";
import { Type } from "@fastify/type-provider-typebox";
import type { Database, DatabaseTransaction } from "../../platform/database/schema.ts";
import { listOf, listQuery, paged, pageOf, period, periodOf } from "../../platform/http/route/pagination.ts";
import { scopeToOrg } from "../../platform/database/org-scope.ts";
import type { UserPrincipal } from "../../platform/http/route/principal.ts";
import { orgReadRoute, readRoute, type Route, writeRoute } from "../../platform/http/route/route.ts";
import { assertOrgName, createOrg } from "./create-org.ts";
import { serializeOrg } from "./serialize.ts";
import { requireOrg } from "./require-org.ts";
import { listOrgPage, type Org, updateOrg } from "./store.ts";

const ofOrg = Type.Object({ orgID: Id("org") });

/** The feature `users` builds on this one, so its part is passed in. */
export interface OrgRouteDeps {
  logHost: string;
  inviteOwner: (tx: DatabaseTransaction, org: Org, email: string) => Promise<unknown>;
  /** The organisations that somebody belongs to; null, which means all, for an operator. */
  orgsOf: (db: Database, principal: UserPrincipal) => Promise<string[] | null>;
}

export function orgRoutes(db: Database, { logHost, inviteOwner, orgsOf }: OrgRouteDeps): Route[] {
  const create = writeRoute({
    method: "POST",
    path: "/api/orgs",
    summary: "Create an organisation, and invite its owner",
    action: "orgs.create",
    credential: "user",
    body: CreateOrgRequest,
    answers: { 201: OrgRecord },
    errors: ["already_exists"],
    rateLimits: ["default"],
    async handle({ body }, tx) {
      const org = await createOrg(tx, { name: body.name, logHost });
      await scopeToOrg(tx, org.id);
      if (body.owner_email !== undefined) await inviteOwner(tx, org, body.owner_email);
      return { status: 201, body: serializeOrg(org) };
    },
  });

  const list = readRoute({
    method: "GET",
    path: "/api/orgs",
    summary: "List the organisations that the caller can read",
    action: "orgs.list",
    credential: "user",
    query: listQuery(period),
    answers: { 200: listOf(OrgRecord) },
    rateLimits: ["default"],
    async handle({ principal, query }) {
      const page = pageOf("org", query);
      const orgs = await listOrgPage(db, { only: await orgsOf(db, principal), page, ...periodOf(query) });
      return { status: 200, body: paged(orgs, page, serializeOrg) };
    },
  });

  const show = orgReadRoute({
    method: "GET",
    path: "/api/orgs/:orgID",
    summary: "One organisation",
    action: "org.read",
    params: ofOrg,
    answers: { 200: OrgRecord },
    rateLimits: ["default"],
    credential: "session",
    async handle({ orgId }, tx) {
      return { status: 200, body: serializeOrg(await requireOrg(tx, orgId)) };
    },
  });

  const change = writeRoute({
    method: "PATCH",
    path: "/api/orgs/:orgID",
    summary: "Rename an organisation, or make its log public",
    action: "org.configure",
    credential: "user",
    params: ofOrg,
    body: ChangeOrgRequest,
    answers: { 200: OrgRecord },
    rateLimits: ["default"],
    async handle({ body, params }, tx) {
      if (body.name !== undefined) assertOrgName(body.name);
      return { status: 200, body: serializeOrg(await updateOrg(tx, params.orgID, body)) };
    },
  });

  return [create, list, show, change];
}
