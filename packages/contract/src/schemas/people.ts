import { Type, type Static } from "typebox";
import { AuditorLinkView } from "./auditor-links.ts";
import { Id, Label, strict, Timestamp } from "./scalars.ts";

/** An address of mail: a local part without quotes (RFC 5321 section 4.1.2) at a domain. Its letters' case makes no other address. */
export const EmailAddress = Type.String({
  maxLength: 254,
  pattern:
    "^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$",
  examples: ["ada@example.org"],
});

/**
 * Made by whoever asks for a code, at random and for this once, and given again with the code: the code then works for them alone, and nobody
 * else's wrong tries count against it. Without one the client's network takes its place.
 */
export const GivenAttempt = Type.String({
  pattern: "^[A-Za-z0-9_-]{22,64}$",
  examples: ["b4GkQm1t0VhY3mZsX9cR2w"],
});
const Attempt = Type.Optional(GivenAttempt);

/** A one-time code as somebody types it; what cannot be one is a wrong one. */
const TypedCode = Type.String({ minLength: 1, maxLength: 32 });

/** What somebody may do in an organisation. */
export const OrgRole = Type.Union([Type.Literal("owner"), Type.Literal("admin"), Type.Literal("auditor")]);
export type OrgRole = Static<typeof OrgRole>;

/** The record of an organisation (contract, section 10). */
export const OrgRecord = Type.Object(
  {
    id: Id("org"),
    created_at: Timestamp,
    name: Type.String(),
    slug: Type.String(),
    public_log: Type.Boolean(),
  },
  strict,
);
export type OrgRecord = Static<typeof OrgRecord>;

/**
 * The record of a user (contract, section 10), which is a membership: the same person has another one in each organisation. An operator has
 * no organisation. `pending`: invited, and may do nothing until they accept.
 */
export const UserRecord = Type.Object(
  {
    id: Id("user"),
    created_at: Timestamp,
    org_id: Type.Optional(Id("org")),
    email: Type.String(),
    name: Type.Optional(Type.String()),
    role: Type.Union([OrgRole, Type.Literal("operator")]),
    status: Type.Union([Type.Literal("active"), Type.Literal("pending")]),
    /** Of one who is `pending`: the invitation ends then, if it has not, and they can be invited anew. */
    invitation_expires_at: Type.Optional(Timestamp),
  },
  strict,
);
export type UserRecord = Static<typeof UserRecord>;

/** 200 of `GET /api/auth/signup`: whether anybody may sign up now. */
export const SignupState = Type.Object({ open: Type.Boolean() }, strict);

/** Body of `POST /api/auth/signup`. */
export const SignupRequest = Type.Object(
  { email: EmailAddress, org_name: Label(100), attempt: Attempt },
  strict,
);
/** Body of `POST /api/auth/login`. */
export const LoginRequest = Type.Object({ email: EmailAddress, attempt: Attempt }, strict);
/** Body of `POST /api/auth/signup/verify`. */
export const SignupVerifyRequest = Type.Object(
  { email: EmailAddress, code: TypedCode, attempt: Attempt },
  strict,
);
/** Body of `POST /api/auth/verify`. Who has a passkey gives one of their recovery codes besides; for others it is not looked at. */
export const VerifyRequest = Type.Object(
  {
    email: EmailAddress,
    code: TypedCode,
    attempt: Attempt,
    recovery_code: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  },
  strict,
);

/** 202 of signup and login: the same whether or not the address is known. */
export const CodeSent = Type.Object(
  { status: Type.Literal("code_sent"), expires_in_s: Type.Integer({ minimum: 1 }) },
  strict,
);

/** 200 of what begins a session; `org` is null for an operator. The token is set as a cookie too. */
export const SessionStarted = Type.Object(
  {
    session_token: Type.String(),
    expires_at: Timestamp,
    user: UserRecord,
    org: Type.Union([OrgRecord, Type.Null()]),
  },
  strict,
);

/** Who is signed in: a user, or somebody with an auditor link, whose role is `reader` and whose id is the link's. */
const SignedIn = Type.Object(
  {
    ...UserRecord.properties,
    id: Type.Union([Id("user"), Id("auditorLink")]),
    role: Type.Union([OrgRole, Type.Literal("operator"), Type.Literal("reader")]),
  },
  strict,
);

/**
 * 200 of `GET /api/auth/me`; `impersonated_by` is the operator who acts as the user, `auditor_link` the link that was opened: only
 * records from `from` on and before `to` are there then.
 */
export const Me = Type.Object(
  {
    user: SignedIn,
    org: Type.Union([OrgRecord, Type.Null()]),
    impersonated_by: Type.Union([UserRecord, Type.Null()]),
    auditor_link: Type.Union([AuditorLinkView, Type.Null()]),
    /** An operator's session that a passkey did not begin: it may add one, and nothing else. */
    passkey_required: Type.Boolean(),
  },
  strict,
);
export type Me = Static<typeof Me>;

/** 200 of `POST /api/auth/logout`. */
export const SignedOut = Type.Object({ status: Type.Literal("signed_out") }, strict);

/** An invitation that waits, as the person who was invited sees it; its id is that of the membership. */
export const InvitationRecord = Type.Object(
  {
    id: Id("user"),
    created_at: Timestamp,
    expires_at: Timestamp,
    org_id: Id("org"),
    org_name: Type.String(),
    role: OrgRole,
  },
  strict,
);
export type InvitationRecord = Static<typeof InvitationRecord>;

/** 200 of `POST /api/auth/invitations/{userID}/decline`. */
export const InvitationDeclined = Type.Object({ status: Type.Literal("declined") }, strict);

/** Body of `POST /api/auth/switch`. */
export const SwitchRequest = Type.Object({ org_id: Id("org") }, strict);

/** 200 of `POST /api/orgs/{orgID}/leave`. */
export const LeftOrg = Type.Object({ status: Type.Literal("left") }, strict);

/** Body of `POST /api/auth/impersonate`. The organisation's log shows the reason. */
export const ImpersonateRequest = Type.Object({ user_id: Id("user"), reason: Label(500) }, strict);

/** Body of `POST /api/orgs`. */
export const CreateOrgRequest = Type.Object(
  { name: Label(100), owner_email: Type.Optional(EmailAddress) },
  strict,
);
/** Body of `PATCH /api/orgs/{orgID}`. */
export const ChangeOrgRequest = Type.Object(
  { name: Type.Optional(Label(100)), public_log: Type.Optional(Type.Boolean()) },
  { ...strict, minProperties: 1 },
);

/** Body of `POST /api/orgs/{orgID}/users`. */
export const InviteUserRequest = Type.Object(
  { email: EmailAddress, role: OrgRole, name: Type.Optional(Label(100)) },
  strict,
);
/** Body of `PATCH /api/orgs/{orgID}/users/{userID}`; a name of null takes it away. */
export const ChangeUserRequest = Type.Object(
  { role: Type.Optional(OrgRole), name: Type.Optional(Type.Union([Label(100), Type.Null()])) },
  { ...strict, minProperties: 1 },
);
