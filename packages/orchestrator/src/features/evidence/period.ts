import { Type } from "@fastify/type-provider-typebox";
import { invalidRequest } from "../../platform/errors/api-error.ts";
import { periodOf } from "../../platform/http/route/pagination.ts";
import { ALWAYS, type Period } from "../../platform/http/route/principal.ts";

const DAY_MS = 86_400_000;
/** A year and a month, so that a whole year still fits when somebody asks for it a little later. */
const MAX_DAYS = 400;
const DEFAULT_DAYS = 90;

export const evidenceQuery = Type.Object(
  {
    from: Type.Optional(
      Type.String({
        maxLength: 40,
        description: `RFC 3339; default: ${DEFAULT_DAYS} days before \`to\`.`,
      }),
    ),
    to: Type.Optional(
      Type.String({
        maxLength: 40,
        description: `RFC 3339, not included; default and latest: now. At most ${MAX_DAYS} days after \`from\`.`,
      }),
    ),
  },
  { additionalProperties: false },
);

export interface EvidencePeriod {
  from: Date;
  /** Exclusive. */
  to: Date;
}

/**
 * Throws `invalid_request` if the moments can't be read, or if the period has not begun, is empty
 * or is too long.
 */
export function evidencePeriod(
  query: { from?: string; to?: string },
  now: Date,
  within: Period = ALWAYS,
): EvidencePeriod {
  const asked = periodOf(query, within);
  const to = asked.to === null || asked.to > now ? now : asked.to;
  const from = asked.from ?? new Date(to.getTime() - DEFAULT_DAYS * DAY_MS);
  if (from >= now)
    throw invalidRequest("The period has not started yet.", [
      { path: "/from", message: "is not in the past" },
    ]);
  if (from >= to)
    throw invalidRequest("The period is empty.", [{ path: "/to", message: "is not after from" }]);
  if (to.getTime() - from.getTime() > MAX_DAYS * DAY_MS)
    throw invalidRequest(`A pack covers at most ${MAX_DAYS} days.`, [
      { path: "/from", message: `is more than ${MAX_DAYS} days before to` },
    ]);
  return { from, to };
}
