import { CallRefused, type Schemas } from "@attestore/contract/client";
import { type QueryClient, queryOptions, useSuspenseQuery } from "@tanstack/react-query";
import { api } from "./client.ts";

export type Me = Schemas["Me"];
export type Role = Me["user"]["role"];

/** Who is signed in; null for nobody. */
export const meQuery = queryOptions({
  queryKey: ["me"],
  queryFn: async (): Promise<Me | null> => {
    try {
      return (await api.call("get", "/api/auth/me")).body;
    } catch (error) {
      if (error instanceof CallRefused && error.status === 401) return null;
      throw error;
    }
  },
});

/** After a sign-in, drop everything fetched before, including that nobody was signed in. */
export async function readSessionAnew(client: QueryClient): Promise<void> {
  client.clear();
  await client.fetchQuery(meQuery);
}

/** Who is signed in. Use it only on pages behind the session guard. */
export function useMe(): Me {
  const { data } = useSuspenseQuery(meQuery);
  if (data === null) throw new Error("nobody is signed in");
  return data;
}

/**
 * Thrown for an operator on an organisation's page: they see one only by acting as one of its
 * members.
 */
export class NoOrganisation extends Error {
  constructor() {
    super("there is no organisation");
    this.name = "NoOrganisation";
  }
}

/**
 * The current organisation. Operators have none, so their pages must not call this. Throws
 * NoOrganisation.
 */
export function useOrgId(): string {
  const { org } = useMe();
  if (org === null) throw new NoOrganisation();
  return org.id;
}

/**
 * Whether the signed-in user may change the organisation. Auditors, and operators acting as a
 * member, are read-only.
 */
export function useMayManage(): boolean {
  const { user, impersonated_by } = useMe();
  return impersonated_by === null && (user.role === "owner" || user.role === "admin");
}
