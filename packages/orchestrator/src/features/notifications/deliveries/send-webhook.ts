import { plural } from "@attestore/proof";
import { lookup } from "node:dns";
import { request as requestHttp, type IncomingMessage } from "node:http";
import { request as requestHttps, type RequestOptions } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { errorCode } from "@attestore/host/errno";
import packageJson from "../../../../package.json" with { type: "json" };
import type { AttemptResult } from "./attempt.ts";
import { addressChecker, hostOf, type WebhookReach } from "../channels/webhook-url.ts";

/** From resolving the name to the end of the answer. */
const WITHIN_MS = 15_000;
/** Limit for the answer, which nobody reads. */
const MAX_ANSWER_BYTES = 64 * 1024;

export interface WebhookRequest {
  url: string;
  id: string;
  timestamp: number;
  signature: string;
  body: string;
}

class AddressNotAllowed extends Error {}

/**
 * Sends a message once (Standard Webhooks 1.0.0). The name is resolved here, its addresses are
 * checked, and the connection goes to a checked address, so it does not help an attacker if the
 * name resolves to something else a moment later. No redirect is followed, no proxy is used, and no
 * connection is kept.
 */
export async function sendWebhook(
  message: WebhookRequest,
  { ca, ...reach }: WebhookReach & { ca?: string | undefined },
  within_ms = WITHIN_MS,
): Promise<AttemptResult> {
  const url = new URL(message.url);
  const isAllowed = addressChecker(reach);
  const host = hostOf(url);
  // The setting may have changed since the URL was accepted. An IP address in a URL is not looked
  // up.
  if ((url.protocol !== "https:" && !reach.http) || (isIP(host) !== 0 && !isAllowed(host)))
    return notAllowed();
  const options: RequestOptions = {
    method: "POST",
    agent: false,
    lookup: checkedLookup(isAllowed),
    signal: AbortSignal.timeout(within_ms),
    maxHeaderSize: 16 * 1024,
    headers: {
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(message.body)),
      "user-agent": `attestore/${packageJson.version}`,
      "webhook-id": message.id,
      "webhook-timestamp": String(message.timestamp),
      "webhook-signature": message.signature,
    },
  };
  try {
    return await exchange(url, ca === undefined ? options : { ...options, ca }, message.body);
  } catch (error) {
    return failureOf(error, within_ms);
  }
}

function exchange(url: URL, options: RequestOptions, body: string): Promise<AttemptResult> {
  return new Promise((resolve, reject) => {
    const request = url.protocol === "https:" ? requestHttps : requestHttp;
    const outgoing = request(url, options, (incoming) => {
      readAnswer(incoming).then(resolve, reject);
    });
    outgoing.on("error", reject);
    // Node does not treat this as a response: nothing else would arrive, and everything waiting to
    // be sent would wait for it.
    outgoing.on("upgrade", (_answer, socket) => {
      socket.destroy();
      reject(new Error("it answered in another protocol"));
    });
    outgoing.end(body);
  });
}

async function readAnswer(incoming: IncomingMessage): Promise<AttemptResult> {
  const httpStatus = incoming.statusCode ?? 0;
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES)
      return {
        outcome: "answer_too_large",
        httpStatus,
        message: "The receiver's answer is longer than 64 KiB.",
      };
  }
  if (httpStatus >= 200 && httpStatus < 300)
    return { outcome: "delivered", httpStatus, message: `The receiver answered ${httpStatus}.` };
  if (httpStatus >= 300 && httpStatus < 400)
    return {
      outcome: "redirect",
      httpStatus,
      message: "The receiver answered with a redirect, which is never followed. Set its new URL.",
    };
  if (httpStatus === 410)
    return {
      outcome: "http_status",
      httpStatus,
      message: "The receiver answered 410: it wants no more messages. The channel was turned off.",
      isGone: true,
    };
  return { outcome: "http_status", httpStatus, message: `The receiver answered ${httpStatus}.` };
}

/** Resolves a name and returns only addresses that may be connected to; fails if there are none. */
function checkedLookup(isAllowed: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, []);
      const allowed = found.filter(({ address }) => isAllowed(address));
      const [first] = allowed;
      if (first === undefined) return callback(new AddressNotAllowed(), []);
      return options.all === true ? callback(null, allowed) : callback(null, first.address, first.family);
    });
  };
}

function notAllowed(): AttemptResult {
  return {
    outcome: "address_not_allowed",
    message: "This service does not send to the URL's address or protocol (see ATTESTORE_WEBHOOK_NETWORKS).",
  };
}

function failureOf(error: unknown, within_ms: number): AttemptResult {
  if (error instanceof AddressNotAllowed) return notAllowed();
  const code = errorCode(error) ?? "";
  if (code === "ABORT_ERR" || (error instanceof Error && error.name === "TimeoutError"))
    return {
      outcome: "timeout",
      message: `There was no answer within ${plural(within_ms / 1000, "second")}.`,
    };
  if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|EPROTO)/.test(code))
    return { outcome: "tls", message: `No secure connection: ${code}.` };
  return {
    outcome: "unreachable",
    message: `The receiver cannot be reached: ${code === "" ? "the connection broke" : code}.`,
  };
}
