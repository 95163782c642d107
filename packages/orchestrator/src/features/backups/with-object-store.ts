import { ApiError, unavailable } from "../../platform/errors/api-error.ts";
import type { Call } from "../../platform/http/route/route.ts";

/**
 * Runs something that needs the object store. If the store fails, throws 503 `unavailable` and
 * writes the reason to the service's log.
 */
export async function withObjectStore<T>(
  call: Pick<Call, "logger" | "requestId">,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApiError) throw error;
    call.logger.error({ err: error, request_id: call.requestId }, "the object store failed");
    throw unavailable("The service cannot reach its object store right now.");
  }
}
