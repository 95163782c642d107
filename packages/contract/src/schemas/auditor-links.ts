import { Type, type Static } from "typebox";
import { Count, Id, Label, strict, Timestamp } from "./scalars.ts";

const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);

/** The longest that an auditor link lives, and how long unless told. */
export const AUDITOR_LINK_MAX_S = 90 * 24 * 3600;
export const AUDITOR_LINK_DEFAULT_S = 14 * 24 * 3600;

const shown = {
  name: Type.String(),
  /** The period that it shows: from this moment on … */
  from: Timestamp,
  /** … and before this one. */
  to: Timestamp,
  expires_at: Timestamp,
};

/** What whoever opened an auditor link is told of it. */
export const AuditorLinkView = Type.Object({ id: Id("auditorLink"), ...shown }, strict);
export type AuditorLinkView = Static<typeof AuditorLinkView>;

const record = {
  id: Id("auditorLink"),
  created_at: Timestamp,
  org_id: Id("org"),
  ...shown,
  created_by: Type.String(),
  openings: Count,
  last_opened_at: nullable(Timestamp),
  revoked_at: nullable(Timestamp),
};

/** The record of an auditor link; never its secret. */
export const AuditorLinkRecord = Type.Object(record, strict);
export type AuditorLinkRecord = Static<typeof AuditorLinkRecord>;

/** 201 of `POST /api/orgs/{orgID}/auditor-links`: the only time that the link is shown. Its secret is the URL's fragment. */
export const AuditorLinkCreated = Type.Object({ ...record, url: Type.String() }, strict);

/** Body of `POST /api/orgs/{orgID}/auditor-links`; moments in RFC 3339. Fourteen days unless told, 90 at most. */
export const CreateAuditorLinkRequest = Type.Object(
  {
    name: Label(100),
    from: Type.String({ maxLength: 40, examples: ["2026-10-01T00:00:00Z"] }),
    to: Type.String({ maxLength: 40, examples: ["2027-01-01T00:00:00Z"] }),
    expires_in_s: Type.Optional(Type.Integer({ minimum: 60, maximum: AUDITOR_LINK_MAX_S })),
  },
  strict,
);

/** Body of `POST /api/auditor-links/open`: the fragment of the link's URL. */
export const OpenAuditorLinkRequest = Type.Object(
  { secret: Type.String({ minLength: 1, maxLength: 64 }) },
  strict,
);

/** 200 of it. The token is set as a cookie too. */
export const AuditorLinkOpened = Type.Object(
  { session_token: Type.String(), expires_at: Timestamp, org_id: Id("org"), auditor_link: AuditorLinkView },
  strict,
);
