import { createClient, type Transport } from "@attestore/contract/client";
import { plainBody } from "./plain-body.ts";

/** The session is the browser's cookie; scripts never see its token. */
const transport: Transport = async ({ method, path, headers, body }) => {
  const response = await fetch(path, {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
    credentials: "same-origin",
    redirect: "error",
  });
  const text = await response.text();
  const isJson = (response.headers.get("content-type") ?? "").startsWith("application/json");
  return { status: response.status, headers: response.headers, body: isJson ? plainOr(text) : text };
};

/** The API, typed by the service's own OpenAPI document. */
export const api = createClient(transport);

/** What is no JSON is for the client to refuse. */
function plainOr(text: string): string {
  try {
    return plainBody(text);
  } catch {
    return text;
  }
}
