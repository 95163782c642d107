import {
  Id,
  InvitationDeclined,
  InvitationRecord,
  LeftOrg,
  SessionStarted,
  SwitchRequest,
  UserRecord,
} from "@attestore/contract";
import { Type } from "@fastify/type-provider-typebox";
import type { Database } from "../../platform/database/schema.ts";
import { readRoute, type Route, writeRoute } from "../../platform/http/route/route.ts";
import { CLEAR_SESSION_COOKIE } from "../../platform/http/credentials/session-cookie.ts";
import { requireOrg } from "../orgs/require-org.ts";
import { continueSession } from "../sessions/continue-session.ts";
import { sessionAnswer } from "./session-answer.ts";
import { leaveOrg } from "../users/change-user.ts";
import { acceptInvitation, declineInvitation, invitationsOf, siblingIn } from "../users/memberships.ts";
import { invitationEnd, serializeUser } from "../users/serialize.ts";

/** Calls of people about their own memberships: accept one, switch between them, end one. */
export function membershipRoutes(db: Database): Route[] {
  const invitations = readRoute({
    method: "GET",
    path: "/api/auth/invitations",
    summary: "List pending invitations to the caller's address",
    action: "membership.read",
    credential: "user",
    answers: { 200: Type.Object({ items: Type.Array(InvitationRecord) }) },
    rateLimits: ["default"],
    async handle({ principal }) {
      const items: InvitationRecord[] = [];
      for (const { id, org_id, role, created_at } of await invitationsOf(db, principal)) {
        if (org_id === null || role === "operator") continue;
        const { name } = await requireOrg(db, org_id);
        items.push({
          id,
          created_at: created_at.toISOString(),
          expires_at: invitationEnd(created_at).toISOString(),
          org_id,
          org_name: name,
          role,
        });
      }
      return { status: 200, body: { items } };
    },
  });

  const accept = writeRoute({
    method: "POST",
    path: "/api/auth/invitations/:userID/accept",
    summary: "Accept an invitation to one's own address",
    action: "membership.change",
    beyondOrg: true,
    credential: "user",
    params: Type.Object({ userID: Id("user") }),
    answers: { 200: UserRecord },
    errors: ["not_found"],
    rateLimits: ["default"],
    async handle({ params, principal }, tx) {
      return { status: 200, body: serializeUser(await acceptInvitation(tx, principal, params.userID)) };
    },
  });

  const decline = writeRoute({
    method: "POST",
    path: "/api/auth/invitations/:userID/decline",
    summary: "Decline an invitation to one's own address",
    action: "membership.change",
    beyondOrg: true,
    credential: "user",
    params: Type.Object({ userID: Id("user") }),
    answers: { 200: InvitationDeclined },
    errors: ["not_found"],
    rateLimits: ["default"],
    async handle({ params, principal }, tx) {
      await declineInvitation(tx, principal, params.userID);
      return { status: 200, body: { status: "declined" } };
    },
  });

  const change = writeRoute({
    method: "POST",
    path: "/api/auth/switch",
    summary: "Start a session in another organisation of the same person",
    action: "membership.change",
    beyondOrg: true,
    credential: "user",
    body: SwitchRequest,
    answers: { 200: SessionStarted },
    errors: ["not_found"],
    rateLimits: ["default"],
    secret: true,
    async handle({ body, principal }, tx) {
      const user = await siblingIn(tx, principal, body.org_id);
      const session = await continueSession(tx, { userId: user.id, session: principal.credential });
      return sessionAnswer(tx, user, session);
    },
  });

  const leave = writeRoute({
    method: "POST",
    path: "/api/orgs/:orgID/leave",
    summary: "Leave an organisation; the caller's sessions in it end at once",
    action: "org.leave",
    credential: "user",
    params: Type.Object({ orgID: Id("org") }),
    answers: { 200: LeftOrg },
    errors: ["conflict"],
    rateLimits: ["default"],
    async handle({ params, principal }, tx) {
      await leaveOrg(tx, { orgId: params.orgID, userId: principal.id });
      return { status: 200, headers: { "set-cookie": CLEAR_SESSION_COOKIE }, body: { status: "left" } };
    },
  });

  return [invitations, accept, decline, change, leave];
}
