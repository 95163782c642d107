import { Type, type Static } from "typebox";
import { Count, Id, Label, OrNull, strict, Timestamp } from "./scalars.ts";

/** The longest and the default lifetime of an auditor link. */
export const AUDITOR_LINK_MAX_S = 90 * 24 * 3600;
export const AUDITOR_LINK_DEFAULT_S = 14 * 24 * 3600;

const shown = {
  name: Type.String(),
  /** Start of the period that the link shows, inclusive. */
  from: Timestamp,
  /** End of the period, exclusive. */
  to: Timestamp,
  expires_at: Timestamp,
};

/** What the person who opened an auditor link sees about it. */
export const AuditorLinkView = Type.Object({ id: Id("auditorLink"), ...shown }, strict);
export type AuditorLinkView = Static<typeof AuditorLinkView>;

const record = {
  id: Id("auditorLink"),
  created_at: Timestamp,
  org_id: Id("org"),
  ...shown,
  created_by: Type.String(),
  openings: Count,
  last_opened_at: OrNull(Timestamp),
  revoked_at: OrNull(Timestamp),
};

/** The record of an auditor link, without its secret. */
export const AuditorLinkRecord = Type.Object(record, strict);
export type AuditorLinkRecord = Static<typeof AuditorLinkRecord>;

/**
 * 201 of `POST /api/orgs/{orgID}/auditor-links`. The link is shown only this once. Its secret is
 * the URL's fragment.
 */
export const AuditorLinkCreated = Type.Object({ ...record, url: Type.String() }, strict);

/**
 * Body of `POST /api/orgs/{orgID}/auditor-links`. Times are RFC 3339. Valid for 14 days by default,
 * 90 at most.
 */
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

/** 200 of `POST /api/auditor-links/open`. The token is also set as a cookie. */
export const AuditorLinkOpened = Type.Object(
  { session_token: Type.String(), expires_at: Timestamp, org_id: Id("org"), auditor_link: AuditorLinkView },
  strict,
);
