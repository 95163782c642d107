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

/** After a sign-in: what was read before, that nobody is signed in among it, counts no more. */
export async function readSessionAnew(client: QueryClient): Promise<void> {
  client.clear();
  await client.fetchQuery(meQuery);
}

/** Who is signed in, on pages that nobody else reaches. */
export function useMe(): Me {
  const { data } = useSuspenseQuery(meQuery);
  if (data === null) throw new Error("nobody is signed in");
  return data;
}

/** What an operator gets on a page of an organisation: they see one only by acting as one of its people. */
export class NoOrganisation extends Error {
  constructor() {
    super("there is no organisation");
    this.name = "NoOrganisation";
  }
}

/** The organisation that the page is about. Operators have none: their pages don't ask. Throws NoOrganisation. */
export function useOrgId(): string {
  const { org } = useMe();
  if (org === null) throw new NoOrganisation();
  return org.id;
}

/** Whether the signed-in person may change what the organisation has; auditors, and operators who act as somebody, only read. */
export function useMayManage(): boolean {
  const { user, impersonated_by } = useMe();
  return impersonated_by === null && (user.role === "owner" || user.role === "admin");
}
