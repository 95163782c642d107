import type { AuditorLinkView, Me } from "@attestore/contract";
import type { Database } from "../../platform/database/schema.ts";
import { unauthenticated } from "../../platform/http/credentials/bearer.ts";
import { viewOf } from "./serialize.ts";
import { findLink } from "./store.ts";

/** Who opened an auditor link. Throws `unauthenticated`. */
export async function readerRecord(
  db: Database,
  linkId: string,
): Promise<{ reader: Me["user"]; link: AuditorLinkView }> {
  const link = await findLink(db, linkId);
  if (link === null) throw unauthenticated();
  const reader: Me["user"] = {
    id: link.id,
    created_at: link.created_at.toISOString(),
    org_id: link.org_id,
    email: "",
    name: link.name,
    role: "reader",
    status: "active",
  };
  return { reader, link: viewOf(link) };
}
