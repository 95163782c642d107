import { ServiceError } from "./service-error.ts";

/** A presigned URL of the service. @throws ServiceError */
export function requireHttps(text: string): URL {
  if (URL.canParse(text)) {
    const url = new URL(text);
    if (url.protocol === "https:") return url;
  }
  throw new ServiceError(
    "invalid_response",
    "the service returned a URL for the object store that is not https",
  );
}
