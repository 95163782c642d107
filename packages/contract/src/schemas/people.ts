import { Type, type Static } from "typebox";
import { AuditorLinkView } from "./auditor-links.ts";
import { Id, Label, strict, Timestamp } from "./scalars.ts";

/**
 * An e-mail address: an unquoted local part (RFC 5321 section 4.1.2) and a domain. Upper and lower
 * case are the same address.
 */
export const EmailAddress = Type.String({
  maxLength: 254,
  pattern:
    "^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$",
  examples: ["ada@example.org"],
});

/**
 * A random value that the client makes for one code request and sends again with the code. The code
 * then works only for that client, and other people's wrong tries do not count against it. Without
 * it, the client's network is used instead.
 */
export const GivenAttempt = Type.String({
  pattern: "^[A-Za-z0-9_-]{22,64}$",
  examples: ["b4GkQm1t0VhY3mZsX9cR2w"],
});
const Attempt = Type.Optional(GivenAttempt);

/** A one-time code as typed. Text that cannot be a code counts as a wrong code. */
const TypedCode = Type.String({ minLength: 1, maxLength: 32 });

/** A role in an organisation. */
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
 * The record of a user (contract, section 10), which is a membership: the same person has one in
 * each organisation. An operator has no organisation. `pending`: invited, and without any rights
 * until they accept.
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
    /**
     * For a `pending` user: when the invitation ends or ended. After that they can be invited
     * again.
     */
    invitation_expires_at: Type.Optional(Timestamp),
  },
  strict,
);
export type UserRecord = Static<typeof UserRecord>;

/**
 * 200 of `GET /api/auth/signup`: whether signup is open, and where codes go. Without a mail server,
 * they are printed on the service's console.
 */
export const SignupState = Type.Object(
  { open: Type.Boolean(), codes: Type.Union([Type.Literal("mail"), Type.Literal("console")]) },
  strict,
);

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
/**
 * Body of `POST /api/auth/verify`. A person with a passkey must also give a recovery code; for
 * others it is ignored.
 */
export const VerifyRequest = Type.Object(
  {
    email: EmailAddress,
    code: TypedCode,
    attempt: Attempt,
    recovery_code: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  },
  strict,
);

/** 202 of signup and login. It is the same whether or not the address is known. */
export const CodeSent = Type.Object(
  { status: Type.Literal("code_sent"), expires_in_s: Type.Integer({ minimum: 1 }) },
  strict,
);

/**
 * 200 of a call that begins a session. `org` is null for an operator. The token is also set as a
 * cookie.
 */
export const SessionStarted = Type.Object(
  {
    session_token: Type.String(),
    expires_at: Timestamp,
    user: UserRecord,
    org: Type.Union([OrgRecord, Type.Null()]),
  },
  strict,
);

/**
 * The signed-in principal: a user, or the holder of an auditor link, whose role is `reader` and
 * whose id is the link's.
 */
const SignedIn = Type.Object(
  {
    ...UserRecord.properties,
    id: Type.Union([Id("user"), Id("auditorLink")]),
    role: Type.Union([OrgRole, Type.Literal("operator"), Type.Literal("reader")]),
  },
  strict,
);

/**
 * 200 of `GET /api/auth/me`. `impersonated_by` is the operator who acts as the user. `auditor_link`
 * is the opened link: only records from `from` (inclusive) to `to` (exclusive) are visible.
 */
export const Me = Type.Object(
  {
    user: SignedIn,
    org: Type.Union([OrgRecord, Type.Null()]),
    impersonated_by: Type.Union([UserRecord, Type.Null()]),
    auditor_link: Type.Union([AuditorLinkView, Type.Null()]),
    /**
     * An operator's session that began without a passkey. It may add a passkey and do nothing else.
     */
    passkey_required: Type.Boolean(),
  },
  strict,
);
export type Me = Static<typeof Me>;

/** 200 of `POST /api/auth/logout`. */
export const SignedOut = Type.Object({ status: Type.Literal("signed_out") }, strict);

/** A pending invitation, as the invited person sees it. Its id is the membership's. */
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

/** Body of `POST /api/auth/impersonate`. The reason appears in the organisation's log. */
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
/** Body of `PATCH /api/orgs/{orgID}/users/{userID}`. A null name removes the name. */
export const ChangeUserRequest = Type.Object(
  { role: Type.Optional(OrgRole), name: Type.Optional(Type.Union([Label(100), Type.Null()])) },
  { ...strict, minProperties: 1 },
);
