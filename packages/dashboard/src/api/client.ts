import { createClient, type Transport } from "@attestore/contract/client";
import { plainBody } from "./plain-body.ts";

/**
 * No complete answer came: a network problem, or the service is down. A bug in the page, which may
 * also be a TypeError, is never this.
 */
export class NoAnswer extends Error {
  constructor(cause: unknown) {
    super("no answer came from the service", { cause });
    this.name = "NoAnswer";
  }
}

/** The session is the browser's cookie; scripts never see its token. Throws NoAnswer. */
const transport: Transport = async ({ method, path, headers, body }) => {
  const init: RequestInit = {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
    credentials: "same-origin",
    redirect: "error",
  };
  const { response, text } = await answerTo(path, init);
  const isJson = (response.headers.get("content-type") ?? "").startsWith("application/json");
  return { status: response.status, headers: response.headers, body: isJson ? plainOr(text) : text };
};

async function answerTo(path: string, init: RequestInit): Promise<{ response: Response; text: string }> {
  try {
    const response = await fetch(path, init);
    return { response, text: await response.text() };
  } catch (error) {
    throw new NoAnswer(error);
  }
}

/** The API, typed by the service's own OpenAPI document. */
export const api = createClient(transport);

/** The client refuses a body that is not JSON. */
function plainOr(text: string): string {
  try {
    return plainBody(text);
  } catch {
    return text;
  }
}
