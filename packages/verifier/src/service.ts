import { request } from "node:https";
import { CannotTell } from "./cannot-tell.ts";

/** A service that is asked for proofs. Its answers are not trusted. */
export interface Service {
  url: URL;
  token: string;
  /** PEM of the authority to trust in place of Node's. */
  ca?: string | undefined;
}

const MAX_ANSWER = 1024 * 1024;
const TIMEOUT_MS = 30_000;

/** Requests a path below the service's address. Throws CannotTell for anything but 200. */
export async function get({ url, token, ca }: Service, path: string): Promise<Uint8Array> {
  // Appended rather than resolved against the address: a path with a second slash would name a
  // host.
  const target = new URL(`${url.origin}${url.pathname.replace(/\/+$/, "")}${path}`);
  const { status, body } = await fetchBytes(target, token, ca);
  if (status === 200) return body;
  throw new CannotTell(
    "service_refused",
    `${url.host} answered ${status}${explanation(body)} to GET ${path}`,
  );
}

function fetchBytes(
  target: URL,
  token: string,
  ca: string | undefined,
): Promise<{ status: number; body: Uint8Array }> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      reject(new CannotTell("network", `${target.host} could not be reached: ${error.message}`));
    };
    const outgoing = request(
      target,
      {
        headers: { authorization: `Bearer ${token}`, accept: "application/json" },
        ...(ca === undefined ? {} : { ca }),
        rejectUnauthorized: true,
        minVersion: "TLSv1.3",
        signal: AbortSignal.timeout(TIMEOUT_MS),
        agent: false,
      },
      (response) => {
        const parts: Buffer[] = [];
        let size = 0;
        response.on("data", (part: Buffer) => {
          size += part.length;
          parts.push(part);
          if (size > MAX_ANSWER) response.destroy(new Error(`its answer has more than ${MAX_ANSWER} bytes`));
        });
        response.on("error", fail);
        response.on("end", () => {
          resolve({ status: response.statusCode ?? 0, body: Buffer.concat(parts) });
        });
      },
    );
    outgoing.on("error", fail);
    // Node emits only `upgrade` for a protocol switch; without this the request would hang.
    outgoing.on("upgrade", (_answer, socket) => {
      socket.destroy();
      fail(new Error("it answered in another protocol"));
    });
    outgoing.end();
  });
}

/** Returns the service's error code if the answer has its error format. */
function explanation(body: Uint8Array): string {
  const code = /"error"\s*:\s*"([a-z_]{1,40})"/.exec(Buffer.from(body).toString("latin1"))?.[1];
  return code === undefined ? "" : ` (${code})`;
}
