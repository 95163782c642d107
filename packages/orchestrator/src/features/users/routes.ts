import { ChangeUserRequest, Id, InviteUserRequest, UserRecord } from "@attestore/contract";
import { Type } from "@fastify/type-provider-typebox";
import { listOf, listQuery, paged, pageOf, period, periodOf } from "../../platform/http/route/pagination.ts";
import { orgReadRoute, type Route, writeRoute } from "../../platform/http/route/route.ts";
import { requireOrg } from "../orgs/require-org.ts";
import { assertMayGive, changeUser, removeUser } from "./change-user.ts";
import { type InviteDeps, inviteUser } from "./invite-user.ts";
import { serializeUser } from "./serialize.ts";
import { listUsers } from "./store.ts";

const ofOrg = Type.Object({ orgID: Id("org") });
const ofUser = Type.Object({ orgID: Id("org"), userID: Id("user") });

export function userRoutes(deps: InviteDeps): Route[] {
  const invite = writeRoute({
    method: "POST",
    path: "/api/orgs/:orgID/users",
    summary: "Invite a user",
    action: "users.manage",
    credential: "user",
    params: ofOrg,
    body: InviteUserRequest,
    answers: { 201: UserRecord },
    errors: ["already_exists"],
    rateLimits: ["default", "invite_user", "invite_org", "invite_email"],
    async count({ body, params, countAgainst }, tx) {
      await countAgainst("invite_org", params.orgID, tx);
      await countAgainst("invite_email", body.email, tx);
    },
    async handle({ body, params, principal }, tx) {
      assertMayGive(principal, null, body.role);
      const user = await inviteUser(tx, deps, {
        org: await requireOrg(tx, params.orgID),
        email: body.email,
        role: body.role,
        name: body.name ?? null,
      });
      return { status: 201, body: serializeUser(user) };
    },
  });

  const list = orgReadRoute({
    method: "GET",
    path: "/api/orgs/:orgID/users",
    summary: "List the users of an organisation",
    action: "users.read",
    params: ofOrg,
    query: listQuery(period),
    answers: { 200: listOf(UserRecord) },
    rateLimits: ["default"],
    async handle({ orgId, query }, tx) {
      const page = pageOf("user", query);
      const users = await listUsers(tx, orgId, { page, ...periodOf(query) });
      return { status: 200, body: paged(users, page, serializeUser) };
    },
  });

  const change = writeRoute({
    method: "PATCH",
    path: "/api/orgs/:orgID/users/:userID",
    summary: "Change a user's role or name",
    action: "users.manage",
    credential: "user",
    params: ofUser,
    body: ChangeUserRequest,
    answers: { 200: UserRecord },
    errors: ["conflict"],
    rateLimits: ["default"],
    async handle({ body, params, principal }, tx) {
      const { orgID: orgId, userID: userId } = params;
      return {
        status: 200,
        body: serializeUser(await changeUser(tx, { by: principal, orgId, userId }, body)),
      };
    },
  });

  const remove = writeRoute({
    method: "DELETE",
    path: "/api/orgs/:orgID/users/:userID",
    summary: "Remove a user; their sessions end at once",
    action: "users.manage",
    credential: "user",
    params: ofUser,
    answers: { 200: UserRecord },
    errors: ["conflict"],
    rateLimits: ["default"],
    async handle({ params, principal }, tx) {
      const { orgID: orgId, userID: userId } = params;
      return { status: 200, body: serializeUser(await removeUser(tx, { by: principal, orgId, userId })) };
    },
  });

  return [invite, list, change, remove];
}
