import { readFile } from "node:fs/promises";
import { request } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { errorCode, errorMessage } from "@attestore/host/errno";
import type { Config } from "../../platform/config/read-config.ts";
import { failed, type Finding, ok, skipped, warning } from "@attestore/host/finding";

const WITHIN_MS = 5000;
/** The service says that it is nearly at its limit. */
const RAISE =
  "Raise the limit on open files (LimitNOFILE= of the systemd unit, --ulimit nofile= of the container), or see who connects: docs/runbooks/open-files.md.";

/** Whether a service answers on this machine at the address in the settings, and can serve. */
export async function examineService({ listen, data, publicUrl, tlsCertificate }: Config): Promise<Finding> {
  const host = listen.host === "::" || listen.host === "0.0.0.0" ? "127.0.0.1" : listen.host;
  const where = `${host}:${listen.port}`;
  const ca =
    tlsCertificate === undefined
      ? await readFile(join(data, "tls", "ca.pem")).catch(() => undefined)
      : undefined;
  try {
    const servername = new URL(publicUrl).hostname;
    const { status, reason, warnings } = await ask({ host, port: listen.port, servername, ca });
    if (status === 200 && warnings.includes("few_open_files_left"))
      return warning("service", `It runs on ${where}, and may open hardly any more files.`, RAISE);
    return status === 200
      ? ok("service", `It runs on ${where}, and is ready.`)
      : failed(
          "service",
          `It runs on ${where} but is not ready: ${reason ?? `/readyz returns ${status}.`}`,
          "See its log.",
        );
  } catch (error) {
    if (errorCode(error) === "ECONNREFUSED") return skipped("service", `Nothing listens on ${where}.`);
    if (errorCode(error) === "ECONNRESET")
      return failed(
        "service",
        `${where} accepts connections and closes them (${errorMessage(error)}).`,
        "See its log: too many connections without a credential are open, or it may open hardly any more files (docs/runbooks/open-files.md).",
      );
    return failed(
      "service",
      `${where}: ${errorMessage(error)}.`,
      "See its log, and check what else listens there.",
    );
  }
}

interface Readiness {
  status: number;
  /** A sentence of the service's own. */
  reason: string | null;
  warnings: unknown[];
}

/** Whoever answers there need not be a service. */
const ANSWER_BYTES = 64 * 1024;

async function* limited(answer: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of answer) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES) return;
    yield chunk;
  }
}

function readAnswer(body: string): Omit<Readiness, "status"> {
  try {
    const { message, warnings } = JSON.parse(body) as { message?: unknown; warnings?: unknown };
    return {
      reason: typeof message === "string" ? message : null,
      warnings: Array.isArray(warnings) ? warnings : [],
    };
  } catch {
    return { reason: null, warnings: [] };
  }
}

function ask(to: {
  host: string;
  port: number;
  servername: string;
  ca: Buffer | undefined;
}): Promise<Readiness> {
  const { ca, servername, ...address } = to;
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        ...address,
        path: "/readyz",
        // TLS cannot ask for an IP address as a name.
        ...(/^[\d.:[\]]+$/.test(servername) ? {} : { servername }),
        ...(ca === undefined ? {} : { ca }),
        agent: false,
        signal: AbortSignal.timeout(WITHIN_MS),
      },
      (answer) => {
        const status = answer.statusCode ?? 0;
        text(limited(answer)).then((body) => resolve({ status, ...readAnswer(body) }), reject);
      },
    );
    asked.on("error", reject);
    // Node does not treat this as a response, and nothing else would arrive.
    asked.on("upgrade", (_answer, socket) => {
      socket.destroy();
      reject(new Error("it answered in another protocol"));
    });
    asked.end();
  });
}
