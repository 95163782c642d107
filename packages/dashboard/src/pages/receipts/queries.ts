import type { Schemas } from "@attestore/contract/client";
import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { periodOf } from "../../api/day.ts";
import { pagedQuery, pageOf } from "../../api/paged-query.ts";
import type { ReceiptSearch } from "./search-params.ts";

export type Receipt = Schemas["ReceiptRecord"];
export type ReceiptDetail = Schemas["ReceiptDetail"];

export function receiptListQuery(orgID: string, search: ReceiptSearch & { backup_id?: string }) {
  return pagedQuery(["orgs", orgID, "receipts", "list", search], async (cursor) => {
    const { from: _from, to: _to, ...filter } = search;
    const query = { ...pageOf(cursor), ...filter, ...periodOf(search) };
    return (await api.call("get", "/api/orgs/{orgID}/receipts", { path: { orgID }, query })).body;
  });
}

/** A receipt never changes. */
export function receiptQuery(orgID: string, receiptID: string) {
  return queryOptions({
    queryKey: ["orgs", orgID, "receipts", "one", receiptID],
    queryFn: async () => (await api.call("get", "/api/receipts/{receiptID}", { path: { receiptID } })).body,
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: false,
  });
}
