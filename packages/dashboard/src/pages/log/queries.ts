import { CallRefused } from "@attestore/contract/client";
import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { allPages, pageOf } from "../../api/paged-query.ts";
import { type LogGenerations, parseLogGenerations } from "@attestore/proof";
import type { ConsistencySource, LogSource } from "../../verification/observe-head.ts";

export function logKeysQuery(orgID: string) {
  return queryOptions({
    queryKey: ["orgs", orgID, "log", "keys"],
    queryFn: async () => (await api.call("get", "/api/orgs/{orgID}/log", { path: { orgID } })).body,
  });
}

export async function readHead(orgID: string) {
  return (await api.call("get", "/api/orgs/{orgID}/log/head", { path: { orgID } })).body;
}

export async function readWitnesses(orgID: string) {
  return allPages(
    async (cursor) =>
      (
        await api.call("get", "/api/orgs/{orgID}/log/witnesses", {
          path: { orgID },
          query: pageOf(cursor, 200),
        })
      ).body,
  );
}

/** Fetches consistency proofs from the service. A refusal is an answer: there is no such proof. */
export function consistencySource(orgID: string): ConsistencySource {
  return async (from, to) => {
    // The empty tree needs no proof, but asking shows that the service still has the large tree.
    const leaf = from === 0n ? to - 1n : from - 1n;
    const query = {
      leaf: String(leaf),
      tree_size: String(to),
      ...(from === 0n ? {} : { from: String(from) }),
    };
    try {
      const { body } = await api.call("get", "/api/orgs/{orgID}/log/proof", { path: { orgID }, query });
      return body.consistency?.hashes ?? (from === 0n ? [] : null);
    } catch (error) {
      if (error instanceof CallRefused && (error.status === 404 || error.status === 400)) return null;
      throw error;
    }
  };
}

/**
 * How the log's later generations began, and the heads of that size that are named as lost. A
 * refusal is an answer: the service names nothing. Throws ProofError for a malformed answer.
 */
export async function readGenerations(orgID: string, size: bigint): Promise<LogGenerations> {
  const query = { tree_size: String(size > 0n ? size : 1n) };
  try {
    const { body } = await api.call("get", "/api/orgs/{orgID}/log/generations", { path: { orgID }, query });
    return parseLogGenerations(JSON.stringify(body));
  } catch (error) {
    if (error instanceof CallRefused && (error.status === 404 || error.status === 400))
      return { began: [], lost: [] };
    throw error;
  }
}

export function logSource(orgID: string): LogSource {
  return {
    prove: consistencySource(orgID),
    generations: async (sizes) => {
      const answers: LogGenerations[] = [];
      for (const size of sizes.length === 0 ? [1n] : sizes) answers.push(await readGenerations(orgID, size));
      return { began: answers[0]?.began ?? [], lost: answers.flatMap(({ lost }) => lost) };
    },
  };
}
