import { newId } from "@attestore/contract";
import { createLog } from "../../log/locked-log.ts";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { ApiError, invalidRequest } from "../../platform/http/errors.ts";
import { insertOrg, type Org } from "./store.ts";

const MAX_NAME = 100;
const MAX_SLUG = 63;

/**
 * Creates an organisation and its empty log, whose origin is `<log host>/<org id>`. Throws `invalid_request` for a name that
 * can't be one and `already_exists` where another organisation has the slug.
 */
export async function createOrg(
  tx: DatabaseTransaction,
  { name, logHost }: { name: string; logHost: string },
): Promise<Org> {
  const slug = slugOf(name);
  if (slug === "" || name.length > MAX_NAME || name !== name.trim() || /\p{Cc}/u.test(name))
    throw invalidRequest(
      "An organisation's name has 1 to 100 characters, and a letter or digit of a-z 0-9.",
      [{ path: "/name", message: "is not a name" }],
    );
  const at = new Date();
  const org = await insertOrg(tx, { id: newId("org", at.getTime()), name, slug, created_at: at });
  if (org === null)
    throw new ApiError("already_exists", `There is already an organisation "${slug}".`, { slug });
  await createLog(tx, logHost, org.id);
  return org;
}

/** `Café Ünlü GmbH` becomes `cafe-unlu-gmbh`. Empty where nothing of the name is left. */
export function slugOf(name: string): string {
  return name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, MAX_SLUG)
    .replace(/^-+|-+$/g, "");
}
