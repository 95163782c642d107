import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { newId } from "@attestore/contract";
import { ApiError, errorBody } from "../errors/api-error.ts";

/**
 * Answers requests that are not HTTP, or whose headers are too large or too late, and ends the
 * connection.
 */
export function answerMalformedHttp(error: Error & { code?: string }, socket: Socket): void {
  // Before the handshake is finished nothing can be sent, and `end` would wait for it for ever.
  const isSecure = !(socket instanceof TLSSocket) || socket.getProtocol() !== null;
  if (
    error.code === "ECONNRESET" ||
    !socket.writable ||
    !isSecure ||
    error.code?.startsWith("ERR_SSL") === true
  ) {
    socket.destroy();
    return;
  }
  const requestId = newId("request");
  const answer = new ApiError("invalid_request", reason(error.code), { issues: [] });
  const body = JSON.stringify(errorBody(answer, requestId));
  const head = [
    `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}`,
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    "Connection: close",
  ].join("\r\n");
  socket.end(`${head}\r\n\r\n${body}`);
}

function reason(code: string | undefined): string {
  if (code === "HPE_HEADER_OVERFLOW") return "The request's headers are too large.";
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return "The request did not arrive in time.";
  return "This is not a well-formed HTTP/1.1 request.";
}
