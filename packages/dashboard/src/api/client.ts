import { createClient, type Transport } from "@attestore/contract/client";

/** The session is the browser's cookie; scripts never see its token. */
const transport: Transport = async ({ method, path, headers, body }) => {
  const response = await fetch(path, {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
    credentials: "same-origin",
    redirect: "error",
  });
  return { status: response.status, headers: response.headers, body: await response.text() };
};

/** The API, typed by the service's own OpenAPI document. */
export const api = createClient(transport);
