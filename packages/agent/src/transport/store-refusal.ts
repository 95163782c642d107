import { xmlText } from "@attestore/host/s3/xml";
import { ServiceError } from "./service-error.ts";

/** No refusal is longer. */
export const REFUSAL_BYTES = 64 * 1024;

/**
 * A store's refusal with its reason. S3's code says what to do; its message may quote the request,
 * with the credential in it, and is left out. Where the service is the store, its message is one of
 * the contract's, for people.
 */
export function storeRefusal(
  url: URL,
  answer: { readonly status: number; readonly body: Buffer },
  what?: "upload" | "download",
): ServiceError {
  const { status } = answer;
  const text = answer.body.toString("utf8");
  const who = what === undefined ? `${url.host} refused` : `the object store ${url.host} refused the ${what}`;
  const message = serviceMessage(text);
  const code = xmlText(text, "Code");
  const reason = message === null ? "" : `: ${message}`;
  const known = code === null || !/^[A-Za-z0-9]{1,64}$/.test(code) ? "" : `, ${code}`;
  return new ServiceError("object_refused", `${who}${reason} (status ${status}${known})`, { status });
}

function serviceMessage(text: string): string | null {
  try {
    const { error, message } = JSON.parse(text) as { error?: unknown; message?: unknown };
    const isContract = typeof error === "string" && /^[a-z][a-z0-9_]{0,63}$/.test(error);
    return isContract && typeof message === "string" && message.length <= 500 ? message : null;
  } catch {
    return null;
  }
}
