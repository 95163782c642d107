import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Attached, AttachRequest, BootstrapStarted } from "@attestore/contract";
import { removeFile, replaceJsonFile } from "@attestore/host/durable-files";
import { parseVerifierKey, ProofError } from "@attestore/proof";
import type { Layout } from "../../state/layout.ts";
import { readJson } from "../../state/read-json.ts";
import { UserError } from "../../errors/user-error.ts";
import { ServiceError } from "../../transport/service-error.ts";
import type { Service } from "../../service/service.ts";

export interface Attaching {
  readonly layout: Layout;
  readonly service: Service;
  readonly host: AttachRequest;
  readonly signal: AbortSignal;
}

/**
 * An attach in progress. The service stores its answer, with the token, under the request's key. So
 * if `init` is killed before the token is on disk, calling it again gets the same agent.
 */
interface PendingAttach {
  readonly v: 1;
  readonly service: string;
  readonly idempotency_key: string;
  readonly request: AttachRequest;
  /** Only for an interactive attach. */
  readonly started: BootstrapStarted | null;
}

/**
 * Attaches with an organisation's auth key. @throws ServiceError; UserError if the key is refused
 */
export async function attachWithKey(attaching: Attaching, authKey: string): Promise<Attached> {
  const { service, signal } = attaching;
  const pending = await rememberAttach(attaching);
  try {
    const attached = await service.attach(authKey, pending.request, {
      signal,
      idempotencyKey: pending.idempotency_key,
    });
    return usable(attached);
  } catch (error) {
    const code = error instanceof ServiceError ? error.refusal?.error : undefined;
    if (code === "auth_key_invalid" || code === "auth_key_burned") {
      await forgetAttach(attaching.layout);
      throw new UserError(
        "usage",
        "the service rejected this auth key: it is wrong, expired, revoked or used up. Ask for a new one.",
        { cause: error },
      );
    }
    throw error;
  }
}

/**
 * Attaches with somebody's approval. `show` gets the details that a person needs for it. Polls
 * until there is a decision.
 * @throws UserError if it was denied or expired; ServiceError
 */
export async function attachInteractively(
  attaching: Attaching,
  show: (started: BootstrapStarted) => void,
): Promise<Attached> {
  const { layout, service, signal } = attaching;
  let pending = await rememberAttach(attaching);
  if (pending.started === null || Date.parse(pending.started.expires_at) < Date.now()) {
    // Use a fresh key: the answer stored for the old one belongs to an expired attach.
    const idempotency_key = pending.started === null ? pending.idempotency_key : randomUUID();
    const started = await service.startBootstrap(pending.request, {
      signal,
      idempotencyKey: idempotency_key,
    });
    pending = { ...pending, idempotency_key, started };
    await replaceJsonFile(layout.pendingAttach, pending);
  }
  const { started } = pending;
  if (started === null) throw new Error("an attach without a start");
  show(started);
  try {
    for (;;) {
      const asked = performance.now();
      const attached = await service.pollBootstrap(started.poll_token, { signal });
      if (attached !== null) return usable(attached);
      // The service holds each poll. If one returns at once, pause so as not to poll in a tight
      // loop.
      const early_ms = started.interval_s * 1000 - (performance.now() - asked);
      if (early_ms > 0) await pause(early_ms, undefined, { signal });
    }
  } catch (error) {
    const code = error instanceof ServiceError ? error.refusal?.error : undefined;
    if (code !== "attach_denied" && code !== "attach_expired" && code !== "not_found") throw error;
    await forgetAttach(layout);
    const why = code === "attach_denied" ? "was denied" : "expired before anybody approved it";
    throw new UserError("usage", `the attach ${why}. Run \`attestore init\` again for a new code.`, {
      cause: error,
    });
  }
}

/** Called once the token is on disk. */
export async function forgetAttach(layout: Layout): Promise<void> {
  await removeFile(layout.pendingAttach);
}

async function rememberAttach({ layout, service, host }: Attaching): Promise<PendingAttach> {
  const before = (await readJson(layout.pendingAttach)) as PendingAttach | null;
  // The same bytes use the same key; a changed host or service is a new attach.
  const isSame =
    before !== null &&
    before.service === service.url.origin &&
    before.request.public_key === host.public_key &&
    before.request.name === host.name;
  if (isSame) return before;
  const pending: PendingAttach = {
    v: 1,
    service: service.url.origin,
    idempotency_key: randomUUID(),
    request: host,
    started: null,
  };
  await replaceJsonFile(layout.pendingAttach, pending);
  return pending;
}

/** From now on everything is verified with this log key. @throws ServiceError */
function usable(attached: Attached): Attached {
  try {
    if (parseVerifierKey(attached.log.verifier_key).name === attached.log.origin) return attached;
  } catch (error) {
    if (!(error instanceof ProofError)) throw error;
  }
  throw new ServiceError("invalid_response", "the service returned no usable verifier key for its log");
}
