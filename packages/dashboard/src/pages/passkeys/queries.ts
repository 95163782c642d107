import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";

export const passkeysQuery = queryOptions({
  queryKey: ["passkeys"],
  queryFn: async () => (await api.call("get", "/api/auth/passkeys")).body,
});
