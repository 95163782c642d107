import { api } from "../../api/client.ts";
import { pagedQuery, pageOf } from "../../api/paged-query.ts";

export const linksQuery = (orgID: string) =>
  pagedQuery(["auditor-links", orgID], async (cursor) => {
    const query = pageOf(cursor);
    return (await api.call("get", "/api/orgs/{orgID}/auditor-links", { path: { orgID }, query })).body;
  });
