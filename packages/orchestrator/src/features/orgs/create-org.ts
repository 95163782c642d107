import { randomBytes } from "node:crypto";
import { newId } from "@attestore/contract";
import { createLog } from "../../log/append/locked-log.ts";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { ApiError, invalidRequest } from "../../platform/errors/api-error.ts";
import { insertOrg, type Org } from "./store.ts";

const MAX_NAME = 100;
const MAX_SLUG = 63;

/**
 * Creates an organisation and its empty log, whose origin is `<log host>/<org id>`. Throws
 * `invalid_request` for a name that is not allowed. If another organisation has the slug, throws
 * `already_exists`; with `anySlug`, or if the slug leaves out letters of the name and so says
 * little about whether the names are alike, adds a few characters instead.
 */
export async function createOrg(
  tx: DatabaseTransaction,
  { name, logHost, anySlug = false }: { name: string; logHost: string; anySlug?: boolean },
): Promise<Org> {
  assertOrgName(name);
  const at = new Date();
  const id = newId("org", at.getTime());
  // A slug made from an id is as unique as the id.
  const slug = slugOf(name) || id.replace("_", "-");
  const org = { id, name, slug, created_at: at };
  const inserted =
    (await insertOrg(tx, org)) ??
    (anySlug || FOREIGN.test(plain(name))
      ? await insertOrg(tx, { ...org, slug: `${slug.slice(0, MAX_SLUG - 9)}-${randomSuffix()}` })
      : null);
  if (inserted === null)
    throw new ApiError("already_exists", `There is already an organisation "${slug}".`, { slug });
  await createLog(tx, logHost, inserted.id);
  return inserted;
}

/** Throws `invalid_request` if this can't be the name of an organisation. */
export function assertOrgName(name: string, path = "/name"): void {
  if (/[\p{L}\p{N}]/u.test(name) && name.length <= MAX_NAME && name === name.trim() && !/\p{Cc}/u.test(name))
    return;
  throw invalidRequest("An organisation's name must have 1 to 100 characters, including a letter or digit.", [
    { path, message: "is not a name" },
  ]);
}

/** Enough characters that nobody else has them. */
function randomSuffix(): string {
  return randomBytes(4).toString("hex");
}

/** A letter or digit that slugs can't contain. */
const FOREIGN = /(?![a-z0-9])[\p{L}\p{N}]/u;

/** In lower case, without accents. */
function plain(name: string): string {
  return name.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

/** `Café Ünlü GmbH` becomes `cafe-unlu-gmbh`. Empty where nothing of the name is left. */
export function slugOf(name: string): string {
  return plain(name)
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, MAX_SLUG)
    .replace(/^-+|-+$/g, "");
}
